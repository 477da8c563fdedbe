"""Use cases: sign-in of commands through a browser."""
