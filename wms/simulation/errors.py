"""What can be wrong with a scenario."""


class WrongScenario(ValueError):
    """Says what, and where in the scenario."""
