"""How a pilot says who it is."""
