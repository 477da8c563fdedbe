"""Tokens: fixed ones that a process was started with, and those that a WMS gives pilots."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from itsdangerous import BadData, SignatureExpired, URLSafeTimedSerializer

from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.principal import PilotCaller, Principal

#: Seconds for which a pilot's token holds; each heartbeat brings a new one.
PILOT_TOKEN = 3600


class FixedTokens:
    """An empty one is nobody's."""

    def __init__(self, known: Mapping[str, Principal]) -> None:
        self._known = [(_digest(token), principal) for token, principal in known.items() if token]

    async def principal(self, token: str) -> Principal | None:
        """In a time that does not depend on what is right of it."""
        digest = _digest(token)
        found = [who for known, who in self._known if hmac.compare_digest(known, digest)]
        return found[0] if found else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


class AnyOf:
    """Whoever knows a token first says whose it is."""

    def __init__(self, authenticators: Iterable[Authenticator]) -> None:
        self._authenticators = list(authenticators)

    async def principal(self, token: str) -> Principal | None:
        for authenticator in self._authenticators:
            found = await authenticator.principal(token)
            if found is not None:
                return found
        return None


class PilotTokens:
    """Signed (HMAC), each for one pilot. ``keys``: the newest last, which signs; with any of the
    others a token may still have been signed."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._signer = URLSafeTimedSerializer(list(keys), salt="sluice.pilot")

    def give(self, pilot: UUID, site: UUID | None = None) -> str:
        """``site``: that it comes from."""
        told = pilot.hex if site is None else [pilot.hex, site.hex]
        return str(self._signer.dumps(told))

    async def principal(self, token: str) -> Principal | None:
        """Raises ``Unauthenticated`` for one that is out of date."""
        try:
            told = self._signer.loads(token, max_age=PILOT_TOKEN)
            return PilotCaller(*map(UUID, told if isinstance(told, list) else [told]))
        except SignatureExpired as error:
            raise Unauthenticated(
                f"the pilot's token is out of date ({error}): it has to register again"
            ) from None
        except (BadData, ValueError, TypeError, AttributeError):
            return None
