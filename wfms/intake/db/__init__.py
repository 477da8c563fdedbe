"""SQL statements of the intake."""
