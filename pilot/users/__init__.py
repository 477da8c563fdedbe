"""A user of its own for the tools of each slot, where a node has no better way to contain them."""
