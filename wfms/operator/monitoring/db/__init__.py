"""Statements of monitoring."""
