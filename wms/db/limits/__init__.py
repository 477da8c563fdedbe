"""Statements on limits and room on storages."""
