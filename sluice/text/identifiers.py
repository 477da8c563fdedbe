"""Identifiers of CWL documents."""


def local_name(identifier: object) -> str:
    """Return the last part of an identifier: ``#main/decode/raw`` → ``raw``."""
    return str(identifier).rsplit("#", 1)[-1].rsplit("/", 1)[-1]
