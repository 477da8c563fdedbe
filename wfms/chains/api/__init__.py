"""REST routes of the chain service."""
