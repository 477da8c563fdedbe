"""Isolation by a user for the tools of each slot, on nodes without a better one."""
