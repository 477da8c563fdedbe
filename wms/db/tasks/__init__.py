"""Statements on tasks and steps."""
