"""Statements on pilots and sites."""
