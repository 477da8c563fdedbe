"""Calls to the operator service about secrets of tools."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.access.secrets import NewSecret, Sealed, Secret, SecretList


class SecretCalls(ServiceClient):
    """Calls about secrets. No answer contains a value in clear."""

    async def list_secrets(self) -> SecretList:
        """Return all secrets."""
        return await self.call("GET", f"{API}/secrets", answer=SecretList)

    async def get_secret(self, name: str, *, template_id: UUID | None = None) -> Secret:
        """Return a secret's versions, and whether a template may use the newest.

        Raises:
            NotFound: There is no such secret.
        """
        return await self.call(
            "GET", _path(name), params={"template_id": template_id}, answer=Secret
        )

    async def set_secret(self, new: NewSecret) -> Secret:
        """Store a new version of a secret. The call is not retried.

        Raises:
            Unprocessable: The name or the value is not valid.
            Conflict: The service has no encryption key.
        """
        return await self.call("POST", f"{API}/secrets", body=new, answer=Secret, retry=False)

    async def remove_secret(self, name: str, *, version: int | None = None) -> None:
        """Remove a version of a secret, or all versions.

        Raises:
            NotFound: There is no such secret or version.
        """
        await self.call("DELETE", _path(name), params={"version": version})

    async def open_secrets(self, request: Sealed) -> Sealed:
        """Return encrypted values of secrets, for services that have the key.

        Raises:
            Conflict: A secret is not available.
        """
        return await self.call("POST", f"{API}/sealed-secrets", body=request, answer=Sealed)


def _path(name: str) -> str:
    return build_path("secrets", name)
