"""What the operator service is asked about secrets of tools."""

from urllib.parse import quote
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.secrets import NewSecret, Sealed, Secret, SecretList


class SecretCalls(ServiceClient):
    """No answer has a value in clear."""

    async def secrets(self) -> SecretList:
        return await self.call("GET", f"{API}/secrets", answer=SecretList)

    async def secret(self, name: str, *, template_id: UUID | None = None) -> Secret:
        """Return a secret's versions, and whether the template with this id may use the newest.

        Raises:
            NotFound: No such secret.
        """
        return await self.call(
            "GET", _path(name), params={"template_id": template_id}, answer=Secret
        )

    async def set_secret(self, new: NewSecret) -> Secret:
        """Never repeated by itself: each one makes a version. Raises ``Unprocessable``;
        ``Conflict`` where the service has no key.
        """
        return await self.call("POST", f"{API}/secrets", body=new, answer=Secret, retry=False)

    async def remove_secret(self, name: str, *, version: int | None = None) -> None:
        """``version`` None: all. Raises ``NotFound``."""
        await self.call("DELETE", _path(name), params={"version": version})

    async def open_secrets(self, request: Sealed) -> Sealed:
        """For services that have the key. Raises ``Conflict`` where a secret cannot be had."""
        return await self.call("POST", f"{API}/sealed-secrets", body=request, answer=Sealed)


def _path(name: str) -> str:
    return f"{API}/secrets/{quote(name, safe='')}"
