"""Commands that set up, start and inspect an installation."""
