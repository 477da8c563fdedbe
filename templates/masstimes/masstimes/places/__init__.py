"""Sites of parishes, by a places API."""
