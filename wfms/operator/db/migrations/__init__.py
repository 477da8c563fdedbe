"""Migrations of the database of the operator service."""
