"""Processes, components, loops and logging."""
