"""The key of a pilot, which proves that it is the one that registered before."""

import secrets
from pathlib import Path
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from sluice.contracts.access.access import PILOT_PROOF, PILOT_PROOF_ALGORITHM
from sluice.network.credentials import write_private

_CURVE: Final = "Ed25519"


class PilotKey:
    """An Ed25519 key (RFC 8032). The WMS knows only its thumbprint (RFC 7638)."""

    def __init__(self, key: OKPKey) -> None:
        self._key = key

    @classmethod
    def new(cls) -> "PilotKey":
        """Return a new key."""
        return cls(OKPKey.generate_key(_CURVE))

    @classmethod
    def load_or_create(cls, path: Path) -> "PilotKey":
        """Return the key in a file, which is made if missing or unreadable.

        Raises:
            OSError: The file cannot be read or written.
        """
        try:
            key = OKPKey.import_key(path.read_bytes())
            if not key.is_private or key.curve_name != _CURVE:
                raise ValueError("it signs nothing")
            return cls(key)
        except (FileNotFoundError, ValueError, JoseError):
            new_key = cls.new()
            write_private(path, new_key._key.as_pem(private=True).decode())
            return new_key

    def proof(self, now: float) -> str:
        """Return a proof that the sender has the key, valid at the server's time ``now``.

        It is a JWT with the public key in its header, as in DPoP (RFC 9449). It names no address,
        because gateways change addresses.
        """
        header = {
            "typ": PILOT_PROOF,
            "alg": PILOT_PROOF_ALGORITHM,
            "jwk": self._key.as_dict(private=False),
        }
        claims = {"iat": int(now), "jti": secrets.token_urlsafe(16)}
        return jwt.encode(header, claims, self._key, algorithms=[PILOT_PROOF_ALGORITHM])
