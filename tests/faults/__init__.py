"""The fault suite: work carried by separate processes while a seeded schedule breaks them, and an
independent look at the end."""
