"""Random tokens of links and browsers, of which only digests are stored."""

import hashlib
import secrets


def create_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def digest_token(token: str) -> bytes:
    """Return the digest under which a token is stored."""
    return hashlib.sha256(token.encode()).digest()
