"""The use cases of the operator service."""
