"""Rules of the catalogue: pure functions and tables."""
