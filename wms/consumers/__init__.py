"""Message consumers of the WMS."""
