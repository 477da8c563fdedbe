"""``/api/v1/secrets``: names and versions of secrets.

No answer contains a value, except that of ``/sealed-secrets``, which only the WMS can decrypt.
"""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.access.access import Role
from sluice.contracts.access.secrets import NewSecret, Sealed, Secret, SecretList
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.servicekit.access.policy import ADMINS, VIEWERS, policy
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestTooLarge
from wfms.operator.http.route import Route
from wfms.operator.secrets.usecases.get_secret import get_secret
from wfms.operator.secrets.usecases.list_secrets import list_secrets
from wfms.operator.secrets.usecases.open_secrets import open_secrets
from wfms.operator.secrets.usecases.remove_secret import remove_secret
from wfms.operator.secrets.usecases.set_secret import set_secret


class RemovalQuery(Contract):
    """Which versions of a secret are deleted.

    Attributes:
        version: Delete only this version.
    """

    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class SecretQuery(Contract):
    """The purpose of reading a secret.

    Attributes:
        template_id: A template, published or one-off, that is to use the newest version.
    """

    template_id: UUID | None = None


class SecretRoutes:
    """The routes of secrets."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._database = context.database

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        name = "/secrets/<name>"
        return [
            Route("GET", "/secrets", "list_secrets", self.list, VIEWERS,
                  "List secrets with their versions and the templates that may use them.",
                  answer=SecretList),
            Route("GET", name, "get_secret", self.read, policy(Role.VIEWER, CallingService.CHAINS),
                  "Return the versions of a secret and the templates that may use them.",
                  answer=Secret, query=SecretQuery, errors=(NotFound,)),
            Route("POST", "/secrets", "set_secret", self.set, ADMINS,
                  "Store a value, encrypted, as the next version of a secret. No route returns it.",
                  answer=Secret, status=201, body=NewSecret,
                  errors=(Conflict, Unprocessable, RequestTooLarge),
                  client=client_hints(retry=False)),
            Route("DELETE", name, "remove_secret", self.remove, ADMINS,
                  "Permanently remove a secret, or one version of it.",
                  status=204, query=RemovalQuery, errors=(NotFound,)),
            Route("POST", "/sealed-secrets", "open_secrets", self.open, policy(CallingService.WMS),
                  "Return secrets of a job to the WMS. Request and answer are encrypted with the"
                  " services' key.",
                  answer=Sealed, body=Sealed, errors=(Conflict,)),
        ]  # fmt: skip

    async def list(self) -> SecretList:
        """List all secrets."""
        return SecretList(secrets=await list_secrets(self._database))

    async def read(self, name: str, query: SecretQuery) -> Secret:
        """Return the versions of a secret and who may use them."""
        return await get_secret(self._database, name, template_id=query.template_id)

    async def set(self, body: NewSecret) -> Secret:
        """Store a value as the next version of a secret."""
        return await set_secret(self._context, body)

    async def remove(self, name: str, query: RemovalQuery) -> None:
        """Delete a secret, or one version of it."""
        await remove_secret(self._database, name, version=query.version)

    async def open(self, body: Sealed) -> Sealed:
        """Return the values for a job, encrypted for the WMS."""
        return await open_secrets(self._context, body)
