"""Types and pure functions of web pages."""
