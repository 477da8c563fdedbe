"""Workflows and expression tools inside one job, run in a separate process."""
