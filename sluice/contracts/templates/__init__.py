"""Contracts of templates, plans and tools."""
