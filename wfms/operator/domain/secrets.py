"""What secrets are to the operator service."""


def sealed_as(name: str, version: int) -> str:
    """What a value is encrypted as, so that no row passes for another."""
    return f"version {version} of secret {name!r}"
