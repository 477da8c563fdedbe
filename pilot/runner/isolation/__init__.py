"""Isolation of a slot's tools: the node's sandbox, a user of the slot, or nothing."""
