"""Commands about pilots and sites."""
