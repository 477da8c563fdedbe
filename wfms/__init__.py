"""The workflow management services."""
