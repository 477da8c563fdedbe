"""Statements of templates."""
