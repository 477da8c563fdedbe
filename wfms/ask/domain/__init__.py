"""Rules of human tasks: pure functions and tables."""
