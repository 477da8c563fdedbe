"""Passwords in PostgreSQL's format (RFC 5802, SCRAM-SHA-256).

The server, and its log, never see passwords in clear text.
"""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode

ITERATIONS = 4096
_METHOD = "SCRAM-SHA-256"


def scram_verifier(
    password: str, *, salt: bytes | None = None, iterations: int = ITERATIONS
) -> str:
    """Return the verifier that PostgreSQL accepts for ``PASSWORD``.

    ``password`` must be ASCII: other passwords would have to be normalised first.
    """
    salt = secrets.token_bytes(16) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, iterations)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return f"{_METHOD}${iterations}:{_text(salt)}${_text(stored_key)}:{_text(server_key)}"


def matches_password(password: str, verifier: str | None) -> bool:
    """Return whether ``verifier`` was made from this password.

    The answer is False for other methods (MD5) and for None.
    """
    if verifier is None or not verifier.startswith(f"{_METHOD}$"):
        return False
    iterations, salt = verifier.split("$")[1].split(":")
    return hmac.compare_digest(
        scram_verifier(password, salt=b64decode(salt), iterations=int(iterations)), verifier
    )


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")
