"""Types and pure functions of monitoring."""
