"""HTTP routes of the WMS."""
