"""What all routes share: permissions, request bodies, error responses."""
