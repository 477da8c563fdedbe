"""A pilot's own key, by which it shows that it is the one which registered before."""

import secrets
from pathlib import Path
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from sluice.contracts.access import PILOT_PROOF, PILOT_PROOF_ALGORITHM
from sluice.credentials import write_private

_CURVE: Final = "Ed25519"


class PilotKey:
    """Ed25519 (RFC 8032). The WMS knows its thumbprint alone (RFC 7638)."""

    def __init__(self, key: OKPKey) -> None:
        self._key = key

    @classmethod
    def new(cls) -> "PilotKey":
        return cls(OKPKey.generate_key(_CURVE))

    @classmethod
    def kept_in(cls, path: Path) -> "PilotKey":
        """The one in the file, which is made where there is none, or none that can be read. Raises
        ``OSError``.
        """
        try:
            key = OKPKey.import_key(path.read_bytes())
            if not key.is_private or key.curve_name != _CURVE:
                raise ValueError("nobody signs with it")
            return cls(key)
        except (FileNotFoundError, ValueError, JoseError):
            made = cls.new()
            write_private(path, made._key.as_pem(private=True).decode())
            return made

    def proof(self, now: float) -> str:
        """That whoever sends it has the key, ``now`` by the clock of who is asked: a JWT with the
        public key in its header, as DPoP has it (RFC 9449); of no address, which gateways
        change.
        """
        header = {
            "typ": PILOT_PROOF,
            "alg": PILOT_PROOF_ALGORITHM,
            "jwk": self._key.as_dict(private=False),
        }
        claims = {"iat": int(now), "jti": secrets.token_urlsafe(16)}
        return jwt.encode(header, claims, self._key, algorithms=[PILOT_PROOF_ALGORITHM])
