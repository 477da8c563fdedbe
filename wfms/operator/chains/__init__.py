"""Requests for chains, and what their tasks, logs and outputs tell."""
