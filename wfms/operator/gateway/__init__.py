"""The application: routing, forwarding to other services, the OpenAPI document."""
