"""Wrong templates, and every finding that is expected of each."""
