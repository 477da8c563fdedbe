"""Statements on times."""
