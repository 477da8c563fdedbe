"""Use cases of web pages."""
