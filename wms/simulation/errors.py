"""Errors in scenarios."""


class InvalidScenario(ValueError):
    """The scenario is invalid; ``str()`` says what is wrong, and where."""
