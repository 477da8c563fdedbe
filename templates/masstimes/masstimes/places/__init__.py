"""Search for the sites of parishes with a places API."""
