"""Use cases for periods, runs and frames."""
