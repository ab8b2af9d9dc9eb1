"""The one error with which everything here stops a build."""

from pymdownx.superfences import SuperFencesException


class PageError(SuperFencesException):
    """Something on a page is wrong; the message says what, where, and what to do.

    It derives from the only exception that superfences lets through: any other one would turn the
    fence into a plain code block, and the build would pass.
    """
