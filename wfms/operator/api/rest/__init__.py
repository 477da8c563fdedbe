"""The REST interface of the operator service."""
