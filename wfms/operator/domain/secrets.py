"""What secrets are to the operator service."""

from sluice.visible_text import quoted


def sealed_as(name: str, version: int) -> str:
    """What a value is encrypted as, so that no row passes for another."""
    return f"version {version} of secret {quoted(name)}"
