"""Use cases of the intake."""
