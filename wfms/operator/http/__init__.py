"""The common parts of all routes: permissions, request bodies, error responses."""
