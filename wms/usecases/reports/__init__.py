"""Use cases for the ends of attempts."""
