"""The context string for the encryption of secrets."""

from sluice.text.visible_text import quoted


def sealed_as(name: str, version: int) -> str:
    """Return the context of an encrypted value, so that no row passes for another."""
    return f"version {version} of secret {quoted(name)}"
