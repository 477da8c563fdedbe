"""Sign-in through an OpenID provider: the authorization code flow with PKCE.

Sources: OpenID Connect Core 1.0, section 3.1; RFC 7636.
"""

from collections.abc import Mapping
from typing import Any

import httpx
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from sluice.contracts.common.problems import NotAvailable
from sluice.network.http_clients import connection_options
from sluice.network.proxies import UnusableProxy
from sluice.servicekit.access.provider_sign_in import PendingSignIn
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted
from wfms.operator.identity.domain.errors import ProviderRefused
from wfms.operator.identity.usecases.oidc_settings import OidcSettings

#: Accepted signature algorithms: neither ``none`` nor those that use the client secret as the key.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
#: Accepted clock skew and the timeout of a request, in seconds.
_SKEW, _TIMEOUT = 60, 15.0
#: Exceptions that an unexpected response can cause.
_ODD = (ValueError, TypeError, KeyError, AttributeError)
_DISCOVERY = "/.well-known/openid-configuration"


class OpenIdProvider:
    """A client of an OpenID provider."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings

    async def begin(self, redirect: str, *, state: str, nonce: str, verifier: str) -> str:
        """Return the address of the provider from which the browser comes back to ``redirect``.

        Raises:
            NotAvailable: The provider does not answer.
        """
        async with self._create_client(redirect) as client:
            metadata = await self._fetch_metadata(client)
            address, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=state,
                nonce=nonce,
                code_verifier=verifier,
            )
        return str(address)

    async def claims(
        self, pending_sign_in: PendingSignIn, answer: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Exchange the code in the answer for an ID token and return its verified claims.

        Raises:
            ProviderRefused: The provider denied the sign-in, or its token is not valid.
            NotAvailable: The provider does not answer as it should.
        """
        if (error := answer.get("error")) is not None:
            raise ProviderRefused(f"it answered {quoted(answer.get('error_description') or error)}")
        code = answer.get("code")
        if not code:
            raise ProviderRefused("it returned no authorization code")
        async with self._create_client(pending_sign_in.redirect) as client:
            metadata = await self._fetch_metadata(client)
            try:
                token = await client.fetch_token(
                    metadata["token_endpoint"], code=code, code_verifier=pending_sign_in.verifier
                )
                id_token = str(token.get("id_token", ""))
                key_document = await _fetch_json(client, metadata["jwks_uri"])
                keys = KeySet.import_key_set({"keys": key_document["keys"]})
            except OAuthError as error:
                description = quoted(str(error))
                raise ProviderRefused(
                    f"it rejected the authorization code: {description}"
                ) from error
            except (httpx.HTTPError, JoseError, *_ODD) as error:
                raise _build_unavailable_error(error) from error
        return self._verify_id_token(id_token, keys, metadata, nonce=pending_sign_in.nonce)

    def _verify_id_token(
        self, token: str, keys: KeySet, metadata: Mapping[str, Any], *, nonce: str
    ) -> Mapping[str, Any]:
        """Validate the ID token (OpenID Connect Core 1.0, section 3.1.3.7).

        Raises:
            ProviderRefused: The token is not valid.
        """
        rules = jwt.JWTClaimsRegistry(
            leeway=_SKEW,
            iss={"essential": True, "value": metadata["issuer"]},
            aud={"essential": True, "value": self._settings.client_id},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
        )
        try:
            claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
            rules.validate(claims)
            if claims.get("azp", self._settings.client_id) != self._settings.client_id:
                raise ValueError("it was issued to another client")
        except (JoseError, ValueError, TypeError, KeyError, OverflowError) as error:
            raise ProviderRefused(f"its ID token is not valid: {reason_of(error)}") from error
        return claims

    def _create_client(self, redirect: str) -> AsyncOAuth2Client:
        """Return an HTTP client for the provider.

        Raises:
            NotAvailable: The proxy settings are not usable.
        """
        secret = self._settings.client_secret
        try:
            connection = connection_options(self._settings.issuer)
        except UnusableProxy as error:
            raise _build_unavailable_error(error) from error
        # A public client proves its identity by PKCE alone.
        return AsyncOAuth2Client(
            client_id=self._settings.client_id,
            client_secret=None if secret is None else secret.get_secret_value(),
            token_endpoint_auth_method="none" if secret is None else "client_secret_basic",
            scope=self._settings.scope,
            redirect_uri=redirect,
            code_challenge_method="S256",
            timeout=_TIMEOUT,
            **connection,
        )

    async def _fetch_metadata(self, client: AsyncOAuth2Client) -> Mapping[str, Any]:
        """Fetch the discovery document of the provider.

        Raises:
            NotAvailable: The provider does not answer, or its document is not valid.
        """
        issuer = self._settings.issuer.rstrip("/")
        try:
            metadata = await _fetch_json(client, f"{issuer}{_DISCOVERY}")
            required = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
            if any(not isinstance(metadata.get(name), str) for name in required):
                raise ValueError(f"its metadata lack some of {', '.join(required)}")
            if metadata["issuer"].rstrip("/") != issuer:
                raise ValueError(f"its issuer is {metadata['issuer']}, not {issuer}")
        except (httpx.HTTPError, ValueError, TypeError) as error:
            raise _build_unavailable_error(error) from error
        return metadata


async def _fetch_json(client: AsyncOAuth2Client, address: str) -> dict[str, Any]:
    """Fetch a JSON object.

    Raises:
        httpx.HTTPError: The request failed.
        ValueError: The response is no JSON object.
    """
    answer = await client.request("GET", address, withhold_token=True)
    document = answer.raise_for_status().json()
    if not isinstance(document, dict):
        raise ValueError(f"{address} returned no JSON object")
    return document


def _build_unavailable_error(error: Exception) -> NotAvailable:
    return NotAvailable(f"the OpenID provider does not answer as it should: {reason_of(error)}")
