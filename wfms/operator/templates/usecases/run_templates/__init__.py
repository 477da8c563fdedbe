"""Use cases: templates of one-off runs."""
