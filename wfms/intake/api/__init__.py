"""REST routes of the intake."""
