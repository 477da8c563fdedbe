"""Statements on limits and space on storages."""
