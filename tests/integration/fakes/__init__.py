"""Conformance of fakes: each test runs against a fake of a service and against the real service."""
