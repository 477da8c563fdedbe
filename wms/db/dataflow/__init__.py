"""Statements on the dataflow between tasks."""
