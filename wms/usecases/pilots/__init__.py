"""Use cases for pilots and sites."""
