"""How the command says no."""


class RefusedError(Exception):
    """What was asked for can't be done; the message is one sentence that says what to change."""
