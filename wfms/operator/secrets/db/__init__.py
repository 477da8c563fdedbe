"""Statements of secrets."""
