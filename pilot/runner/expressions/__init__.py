"""Expressions of templates: JavaScript in its sandbox."""
