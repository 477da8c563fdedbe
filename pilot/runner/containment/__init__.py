"""What keeps a slot's tools to their job: the node's sandbox, a user of the slot's, or nothing."""
