"""Schema migrations of the intake."""
