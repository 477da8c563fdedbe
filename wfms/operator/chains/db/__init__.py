"""Statements of chains."""
