"""Templates, their versions and drafts, and the tools that they are composed of."""
