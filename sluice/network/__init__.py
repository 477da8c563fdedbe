"""HTTP clients: proxies, trusted servers and the user's tokens."""
