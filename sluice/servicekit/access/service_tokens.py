"""Tokens with which a service authenticates to another service.

The service signs a JWT (RFC 7519) with its Ed25519 key (RFC 9864). A token is valid for one called
service and for one minute.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import ClaimError, ExpiredTokenError, MissingClaimError

from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.principal import Principal, ServiceCaller
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.token_faults import MALFORMED, describe_fault

#: Seconds for which a token is valid, and the accepted clock difference between two machines.
LIFE, SKEW = 60, 30
_ALGORITHM = "Ed25519"
#: The number of verified tokens that are cached.
_REMEMBERED = 256

Clock = Callable[[], float]


class ServiceSigner:
    """A source of tokens of one service. A token is reused for half its lifetime."""

    def __init__(self, keys: ServiceKeys, clock: Clock = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._tokens: dict[str, tuple[float, str]] = {}

    @property
    def service(self) -> str:
        """Return the name of the service that signs."""
        return self._keys.service

    def token(self, audience: str) -> str:
        """Return a token for the service ``audience``."""
        now = self._clock()
        signed_at, token = self._tokens.get(audience, (0.0, ""))
        if not token or not 0 <= now - signed_at < LIFE / 2:
            token = self._new(audience, int(now))
            self._tokens[audience] = now, token
        return token

    def forget(self, audience: str) -> None:
        """Drop the refused token for ``audience``, so that the next call signs a new one."""
        self._tokens.pop(audience, None)

    def _new(self, audience: str, now: int) -> str:
        key = self._keys.own()
        header = {"alg": _ALGORITHM, "kid": key.thumbprint()}
        claims = {"iss": self.service, "aud": audience, "iat": now, "exp": now + LIFE}
        return jwt.encode(header, claims, key, algorithms=[_ALGORITHM])


class ServiceTokens:
    """Authenticator of the tokens that are meant for one service."""

    def __init__(self, keys: ServiceKeys, clock: Clock = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._verified: dict[str, tuple[CallingService, Mapping[str, Any]]] = {}

    async def principal(self, token: str) -> Principal | None:
        """Return the service that signed the token, or None if the token is not a service token.

        Raises:
            Unauthenticated: The token has expired, is for another service, or its key is unknown.
        """
        signed = self._verified.get(token) or self._verify(token)
        if signed is None:
            return None
        service, claims = signed
        self._require_valid(service, claims)
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[token] = signed
        return ServiceCaller(service)

    def _verify(self, token: str) -> tuple[CallingService, Mapping[str, Any]] | None:
        try:
            head = jws.extract_compact(token.encode()).headers()
        except MALFORMED:
            return None
        if head.get("alg") != _ALGORITHM:
            return None
        service, key = self._keys.public_keys().get(str(head.get("kid")), (None, None))
        if service is None or key is None:
            raise Unauthenticated("the token is signed with a key that this service does not know")
        try:
            claims = jwt.decode(token, key, algorithms=[_ALGORITHM]).claims
        except MALFORMED as error:
            raise Unauthenticated(
                f"the token does not belong to the service {service}: {describe_fault(error)}"
            ) from error
        if claims.get("iss") != service:
            raise Unauthenticated(
                f"the service {service} signed the token in the name of another service"
            )
        return service, claims

    def _require_valid(self, service: CallingService, claims: Mapping[str, Any]) -> None:
        now = int(self._clock())
        rules = jwt.JWTClaimsRegistry(
            now=now,
            leeway=SKEW,
            aud={"essential": True, "value": str(self._keys.service)},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            rules.validate(dict(claims))
        except ClaimError as error:
            raise Unauthenticated(
                f"the token of the service {service} is not valid here: {self._fault(error)}"
            ) from error
        if claims["exp"] > now + LIFE + SKEW:  # no token may be valid forever
            raise Unauthenticated(
                f"the token of the service {service} is valid for longer than {LIFE} s"
            )

    def _fault(self, error: ClaimError) -> str:
        match error:
            case MissingClaimError():
                return f"it lacks {error.claim}"
            case ExpiredTokenError():
                return "it has expired; compare the clocks of the two machines"
            case ClaimError(claim="aud"):
                return f"it is for another service than {self._keys.service}"
            case _:
                return "its times are wrong; compare the clocks of the two machines"
