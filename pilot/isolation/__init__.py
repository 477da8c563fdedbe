"""Isolation of tools: the sandbox, a user per slot, and what the node offers for both."""
