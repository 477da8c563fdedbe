"""REST routes of pictures."""
