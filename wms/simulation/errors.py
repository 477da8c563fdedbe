"""Errors in scenarios."""


class WrongScenario(ValueError):
    """The scenario is invalid; ``str()`` says what is wrong, and where."""
