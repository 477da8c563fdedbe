"""SQL statements of the chain service."""
