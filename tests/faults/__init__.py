"""The fault suite: a seeded schedule breaks a stack, and a checker judges the result."""
