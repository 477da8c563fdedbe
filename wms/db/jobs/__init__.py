"""Statements on jobs and attempts."""
