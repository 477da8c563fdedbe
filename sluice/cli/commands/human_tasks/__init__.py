"""Commands about steps that people carry out."""
