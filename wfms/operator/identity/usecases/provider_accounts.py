"""Sign-in of people through an OpenID provider."""

from collections.abc import Mapping

import structlog

from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.provider_sign_in import PendingSignIn
from sluice.servicekit.database import Database
from wfms.operator.identity.db.people import enter_person, to_person
from wfms.operator.identity.domain.errors import ProviderRefused
from wfms.operator.identity.domain.provider_claims import parse_claims
from wfms.operator.identity.usecases.oidc_settings import OidcSettings
from wfms.operator.identity.usecases.openid_provider import OpenIdProvider

log = structlog.get_logger(__name__)


class ProviderAccounts:
    """A ``Provider`` that creates and updates accounts from the claims of an OpenID provider.

    An account is created at the first sign-in. Each sign-in sets its role from the current groups.
    """

    def __init__(
        self, database: Database, provider: OpenIdProvider, settings: OidcSettings
    ) -> None:
        self._database = database
        self._provider = provider
        self._settings = settings

    async def begin(self, redirect: str, *, state: str, nonce: str, verifier: str) -> str:
        """Return the address of the provider to which the browser is redirected.

        Raises:
            NotAvailable: The provider does not answer.
        """
        return await self._provider.begin(redirect, state=state, nonce=nonce, verifier=verifier)

    async def person(self, pending_sign_in: PendingSignIn, answer: Mapping[str, str]) -> Person:
        """Return the person who signed in, and create or update their account.

        Raises:
            ProviderRefused: The provider or the state of the account denies the sign-in.
            NotAvailable: The provider does not answer.
        """
        try:
            claims = await self._provider.claims(pending_sign_in, answer)
            identity = parse_claims(
                claims,
                self._settings.roles,
                self._settings.groups,
                name_claim=self._settings.name_claim,
                groups_claim=self._settings.groups_claim,
            )
            async with self._database.transaction() as transaction:
                account = await enter_person(
                    transaction.connection,
                    identity.subject,
                    identity.name,
                    identity.role,
                    groups=identity.groups,
                )
            if account is None:
                raise ProviderRefused(
                    f"the account {identity.name} belongs to another person: ask an administrator"
                    " for another name"
                )
            if account.disabled_at is not None:
                raise ProviderRefused(f"{account.name} was disabled by an administrator")
        except Unauthenticated as error:
            log.warning("person.refused", reason=error.detail)
            raise
        log.info("person.entered", person=account.name, role=account.role)
        return to_person(account)
