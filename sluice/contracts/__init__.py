"""The contracts of the services: requests, answers and messages."""
