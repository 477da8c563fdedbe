"""Statements of identity."""
