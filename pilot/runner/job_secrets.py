"""The secrets of one job: cwltool has placeholders in their place, and gives the values to the
tool alone."""

from collections.abc import Mapping

from cwltool.secrets import SecretStore
from pydantic import SecretStr

from pilot.runner.redaction import NOTHING, Redaction
from sluice.contracts.secrets import HoldsSecrets, SecretRef, SecretText


class HandedOn(HoldsSecrets):
    """``values``: by placeholder. ``names``: of the secrets, by placeholder."""

    values: dict[str, SecretText]
    names: dict[str, str]


class JobSecrets:
    """``placeholders``: by port, what stands in the job order. ``store``: what cwltool finds the
    values in."""

    def __init__(self, refs: Mapping[str, SecretRef], values: Mapping[str, SecretStr]) -> None:
        self.store = SecretStore()
        self.placeholders: dict[str, str] = {
            port: str(self.store.add(value.get_secret_value())) for port, value in values.items()
        }
        self._names = {self.placeholders[port]: refs[port].name for port in values}
        self.redaction = _redaction(self.store, self._names)

    def handed_on(self) -> bytes:
        """For a process inside the job; empty where there are none."""
        if not self._names:
            return b""
        values = {key: SecretStr(value) for key, value in self.store.secrets.items()}
        return HandedOn(values=values, names=self._names).model_dump_json().encode()


def taken(handed: bytes) -> tuple[SecretStore, Redaction]:
    """Of what ``handed_on`` gave."""
    store = SecretStore()
    if not handed:
        return store, NOTHING
    found = HandedOn.model_validate_json(handed)
    store.secrets = {key: value.get_secret_value() for key, value in found.values.items()}
    return store, _redaction(store, found.names)


def _redaction(store: SecretStore, names: Mapping[str, str]) -> Redaction:
    shown = {placeholder: f"(secret {name})" for placeholder, name in names.items()}
    return Redaction(
        shown | {store.secrets[placeholder]: text for placeholder, text in shown.items()}
    )


#: Of a job that has none.
NO_SECRETS = JobSecrets({}, {})
