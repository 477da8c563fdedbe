"""Find the sites of parishes by a places API."""
