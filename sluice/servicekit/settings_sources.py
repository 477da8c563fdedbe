"""Sources of settings, and readable messages about wrong values.

The first source that has a value wins: the environment, then a folder of secrets (one file for each
variable, named as the variable in lower case), then a settings file (lines ``NAME=value``). In each
source a service's own variable (``SLUICE_DMS_LOG_LEVEL``) precedes the one that all services share
(``SLUICE_LOG_LEVEL``). An empty value counts as unset.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pydantic
from dotenv.parser import parse_stream
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from sluice.contracts.common.wording import validation_sentence
from sluice.text.os_errors import reason_of

#: Environment variables that name the other sources.
SECRETS_DIR = "SLUICE_SECRETS_DIR"
SETTINGS_FILE = "SLUICE_SETTINGS_FILE"
#: The folder where container engines put secrets. It is used if it exists.
DEFAULT_SECRETS_DIR = Path("/run/secrets")

#: The prefix of variables that all services share.
SHARED_PREFIX = "SLUICE_"


class InvalidSettings(ValueError):
    """Settings are wrong. Each sentence names a variable and the source of its value."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


@dataclass(frozen=True, slots=True)
class SettingsPlace:
    """One source of settings.

    ``variables`` maps names in lower case to values. ``where`` describes the source.
    """

    where: str
    variables: Mapping[str, str]


class LayeredSettings(BaseSettings):
    """Settings from several sources.

    ``SHARED`` has the fields that ``SLUICE_<FIELD>`` sets for all services at once.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset()

    model_config = SettingsConfigDict(env_nested_delimiter="__", extra="ignore", frozen=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        *other_sources: Any,
        **further: Any,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Replace pydantic's file sources by those of this module."""
        prefix = env_settings.env_prefix if isinstance(env_settings, EnvSettingsSource) else ""
        return init_settings, *cls._sources(settings_cls, prefix)

    @classmethod
    def _sources(
        cls, settings_cls: type[BaseSettings], prefix: str
    ) -> Iterator[PydanticBaseSettingsSource]:
        for place in places():
            yield _source(settings_cls, prefix, place.variables)
            shared = {
                name: value
                for name, value in place.variables.items()
                if name.removeprefix(SHARED_PREFIX.lower()).split("__")[0] in cls.SHARED
            }
            yield _source(settings_cls, SHARED_PREFIX, shared)


SettingsT = TypeVar("SettingsT", bound=LayeredSettings)


def load_settings(owner: type[SettingsT], *, prefix: str | None = None) -> SettingsT:
    """Load settings from all sources.

    Args:
        owner: The class of the settings.
        prefix: The prefix of the variables, if it differs from the class's own.

    Raises:
        InvalidSettings: A value is missing or wrong.
    """
    own = str(owner.model_config.get("env_prefix", "")) if prefix is None else prefix
    try:
        return owner(_env_prefix=own)
    except pydantic.ValidationError as error:
        raise InvalidSettings([_sentence(owner, own, fault) for fault in error.errors()]) from None
    except SettingsError as error:
        what = str(error).split(" from source")[0]
        raise InvalidSettings(
            [f"{own}…: {what}: it is not JSON ({reason_of(error.__cause__ or error)})"]
        ) from None


def unknown_variables(owner: type[LayeredSettings]) -> list[str]:
    """Return the variables of all sources that ``unknown_among`` finds."""
    return unknown_among({name for place in places() for name in place.variables}, owner)


def unknown_among(names: Iterable[str], owner: type[BaseSettings]) -> list[str]:
    """Return the names with the prefix of ``owner`` that match none of its fields: likely typos."""
    prefix = str(owner.model_config["env_prefix"]).upper()
    fields = {f"{prefix}{field}".upper() for field in owner.model_fields}
    return sorted(
        name
        for name in map(str.upper, names)
        if name.startswith(prefix) and name.split("__")[0] not in fields
    )


def places() -> list[SettingsPlace]:
    """Return the sources in order of precedence.

    Raises:
        InvalidSettings: A source that the environment names cannot be read.
    """
    environment = {
        name.lower(): value
        for name, value in os.environ.items()
        if name.upper().startswith(SHARED_PREFIX) and value
    }
    return [SettingsPlace("in the environment", environment), *_secrets(), *_settings_file()]


def secrets_dir() -> Path:
    """Return the folder of secrets."""
    return Path(os.environ.get(SECRETS_DIR) or DEFAULT_SECRETS_DIR)


def _source(
    settings_cls: type[BaseSettings], prefix: str, variables: Mapping[str, str]
) -> EnvSettingsSource:
    source = EnvSettingsSource(settings_cls, env_prefix=prefix)
    source.env_vars = variables
    return source


def _secrets() -> Iterator[SettingsPlace]:
    folder = secrets_dir()
    if not os.environ.get(SECRETS_DIR) and not folder.is_dir():
        return
    try:
        files = [
            file
            for file in folder.iterdir()
            if file.name.lower().startswith(SHARED_PREFIX.lower()) and file.is_file()
        ]
        texts = {file.name.lower(): _text(file).strip() for file in files}
    except OSError as error:
        raise InvalidSettings(
            [f"{SECRETS_DIR}: the folder {folder} cannot be read: {reason_of(error)}"]
        ) from None
    yield SettingsPlace(
        f"in the folder {folder}", {name: text for name, text in texts.items() if text}
    )


def _settings_file() -> Iterator[SettingsPlace]:
    path = os.environ.get(SETTINGS_FILE)
    if not path:
        return
    try:
        with open(path, encoding="utf-8") as file:
            lines = list(parse_stream(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(
            [f"{SETTINGS_FILE}: the file {path} cannot be read: {reason_of(error)}"]
        ) from None
    malformed = [
        line.original.line for line in lines if line.error or (line.key and line.value is None)
    ]
    if malformed:
        raise InvalidSettings(
            [f"{path}, line {number}: expected NAME=value" for number in malformed]
        )
    yield SettingsPlace(
        f"in the file {path}",
        {line.key.lower(): line.value for line in lines if line.key and line.value},
    )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings([f"the secret {file} cannot be read: {reason_of(error)}"]) from None


def _sentence(owner: type[LayeredSettings], prefix: str, error: ErrorDetails) -> str:
    """Return a message about a wrong value, without the value, which may be a password."""
    field = "__".join(str(part) for part in error["loc"])
    message = validation_sentence(error)
    own = f"{prefix}{field}".upper()
    if error["type"] == "missing":
        folder = secrets_dir()
        return (
            f"{own} is not set: give it in the environment, as the file {own.lower()} in {folder}"
            f" ({SECRETS_DIR}), or in the file that {SETTINGS_FILE} names"
        )
    shared = f"{SHARED_PREFIX}{field}".upper()
    names = [own, shared] if field.split("__")[0] in owner.SHARED else [own]
    for place in places():
        for name in names:
            if name.lower() in place.variables:
                return f"{name} ({place.where}): {message}"
    return f"{own}: {message}"
