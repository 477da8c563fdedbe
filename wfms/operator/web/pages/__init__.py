"""The web pages of the operator service."""
