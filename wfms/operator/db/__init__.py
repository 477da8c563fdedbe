"""The database of the operator service."""
