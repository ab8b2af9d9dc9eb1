"""The errors with which the build and the commands of the site stop."""

try:
    from pymdownx.superfences import SuperFencesException
except ImportError:  # a GPU machine records outputs, and builds no pages
    SuperFencesException = Exception  # type: ignore[assignment, misc]


class PageError(SuperFencesException):
    """Something on a page is wrong; the message says what, where, and what to do.

    It derives from the only exception that superfences lets through: any other one would turn the
    fence into a plain code block, and the build would pass.
    """


class SiteError(ValueError):
    """A folder that is not a built site."""


class SheetError(ValueError):
    """A style sheet that says nowhere which pages need it."""


class LiveError(ValueError):
    """Why the site can't be served live, and what to do."""
