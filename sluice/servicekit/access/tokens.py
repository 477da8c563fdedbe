"""Fixed tokens that a process was started with, and the tokens that a WMS gives to pilots."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from itsdangerous import BadData, SignatureExpired, URLSafeTimedSerializer

from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.principal import PilotCaller, Principal

#: Seconds for which the token of a pilot is valid. Each heartbeat brings a new token.
PILOT_TOKEN = 3600


class FixedTokens:
    """Authenticator of fixed tokens. Empty tokens are ignored."""

    def __init__(self, tokens: Mapping[str, Principal]) -> None:
        self._digests = [
            (_digest(token), principal) for token, principal in tokens.items() if token
        ]

    async def principal(self, token: str) -> Principal | None:
        """Return the principal of the token, compared in constant time, or None."""
        digest = _digest(token)
        principals = [
            principal for own, principal in self._digests if hmac.compare_digest(own, digest)
        ]
        return principals[0] if principals else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


class AuthenticatorChain:
    """Authenticator that asks several others in turn."""

    def __init__(self, authenticators: Iterable[Authenticator]) -> None:
        self._authenticators = list(authenticators)

    async def principal(self, token: str) -> Principal | None:
        """Return the principal that the first matching authenticator names, or None."""
        for authenticator in self._authenticators:
            principal = await authenticator.principal(token)
            if principal is not None:
                return principal
        return None


class PilotTokens:
    """Authenticator and source of signed tokens (HMAC), each for one pilot.

    The last of ``keys`` signs. Tokens that were signed with the other keys stay valid.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._signer = URLSafeTimedSerializer(list(keys), salt="sluice.pilot")

    def issue(self, pilot: UUID, site: UUID | None = None) -> str:
        """Return a token for a pilot that comes from ``site``."""
        payload = pilot.hex if site is None else [pilot.hex, site.hex]
        return str(self._signer.dumps(payload))

    async def principal(self, token: str) -> Principal | None:
        """Return the pilot of a token, or None if the token is not a pilot token.

        Raises:
            Unauthenticated: The token has expired.
        """
        try:
            payload = self._signer.loads(token, max_age=PILOT_TOKEN)
            return PilotCaller(*map(UUID, payload if isinstance(payload, list) else [payload]))
        except SignatureExpired as error:
            since = f" of {error.date_signed:%Y-%m-%d %H:%M:%S} UTC" if error.date_signed else ""
            raise Unauthenticated(
                f"the pilot's token{since} has expired: the pilot has to register again"
            ) from None
        except (BadData, ValueError, TypeError, AttributeError):
            return None
