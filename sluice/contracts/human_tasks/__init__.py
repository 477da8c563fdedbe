"""Contracts of human tasks."""
