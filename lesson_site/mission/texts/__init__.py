"""The mission's sentences. A name in braces is filled from a row, in Python or in the browser.

Every number in them is computed; none is typed. Each instrument has a module of its own.
"""

from lesson_site.mission.texts import decision, guide, laptop, ledger, pipeline

MODULES = (guide, ledger, pipeline, laptop, decision)


def messages() -> dict[str, str]:
    """Every sentence by its id.

    Raises:
        ValueError: If two modules use one id.
    """
    found: dict[str, str] = {}
    for module in MODULES:
        for name, text in module.MESSAGES.items():
            if name in found:
                raise ValueError(f"two texts are called {name}")
            found[name] = text
    return found
