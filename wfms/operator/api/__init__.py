"""The HTTP interface of the operator service."""
