"""Use cases for files and their content."""
