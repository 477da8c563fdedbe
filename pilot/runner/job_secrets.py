"""Secrets of one job.

cwltool works with placeholders and only the tool gets the values.
"""

from collections.abc import Mapping

from cwltool.secrets import SecretStore
from pydantic import SecretStr

from pilot.runner.redaction import NO_REDACTION, Redaction
from sluice.contracts.access.secrets import SecretContract, SecretRef, SecretText


class InnerSecrets(SecretContract):
    """Values and names of secrets by placeholder, for a process inside the job."""

    values: dict[str, SecretText]
    names: dict[str, str]


class JobSecrets:
    """Secrets of one job.

    ``placeholders`` maps ports to the placeholders in the job order. ``store`` holds the values for
    cwltool.
    """

    def __init__(self, refs: Mapping[str, SecretRef], values: Mapping[str, SecretStr]) -> None:
        self.store = SecretStore()
        self.placeholders: dict[str, str] = {
            port: str(self.store.add(value.get_secret_value())) for port, value in values.items()
        }
        self._names = {self.placeholders[port]: refs[port].name for port in values}
        self.redaction = _create_redaction(self.store, self._names)

    def serialize_for_inner_process(self) -> bytes:
        """Return the secrets for a process inside the job, or empty bytes if there are none."""
        if not self._names:
            return b""
        values = {key: SecretStr(value) for key, value in self.store.secrets.items()}
        return InnerSecrets(values=values, names=self._names).model_dump_json().encode()


def read_secrets(data: bytes) -> tuple[SecretStore, Redaction]:
    """Return the store and the redaction for the result of ``serialize_for_inner_process``."""
    store = SecretStore()
    if not data:
        return store, NO_REDACTION
    secrets = InnerSecrets.model_validate_json(data)
    store.secrets = {key: value.get_secret_value() for key, value in secrets.values.items()}
    return store, _create_redaction(store, secrets.names)


def _create_redaction(store: SecretStore, names: Mapping[str, str]) -> Redaction:
    replacements = {placeholder: f"(secret {name})" for placeholder, name in names.items()}
    return Redaction(
        replacements
        | {store.secrets[placeholder]: text for placeholder, text in replacements.items()}
    )


#: Secrets of a job that has none.
NO_SECRETS = JobSecrets({}, {})
