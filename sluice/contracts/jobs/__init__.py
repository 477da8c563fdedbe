"""Contracts of tasks, steps and jobs."""
