"""Authentication and authorization: principals, route policies and their enforcement."""
