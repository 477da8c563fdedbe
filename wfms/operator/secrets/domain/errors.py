"""Errors of secrets."""

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.problems import (
    Conflict,
    NotFound,
    Unprocessable,
)
from sluice.text.visible_text import quoted


class SecretUnknown(NotFound):
    """The secret, or the version if one is given, does not exist."""

    def __init__(self, name: str, version: int | None = None) -> None:
        subject = (
            f"secret {quoted(name)}"
            if version is None
            else f"version {version} of secret {quoted(name)}"
        )
        super().__init__(f"there is no {subject} (`sluice secret list` lists them)", name=name)


class SecretWithoutUsers(Unprocessable):
    """A new secret has no templates that may use it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"secret {quoted(name)} is new: give the templates that may use it, as names or"
            " patterns (--for 'places*'; `templates` in REST)",
            name=name,
        )


class SecretRefused(Conflict):
    """The template of a job may not use the secret, or the secret was removed."""

    def __init__(self, ref: SecretRef, reason: str) -> None:
        super().__init__(f"{ref} {reason}", name=ref.name)
