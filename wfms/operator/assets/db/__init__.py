"""Statements of assets."""
