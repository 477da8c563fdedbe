"""Workflows and expression tools inside one job, run in a process of their own."""
