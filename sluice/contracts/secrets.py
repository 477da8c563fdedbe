"""Secrets that tools are given: values that the operator service keeps encrypted, and that are
named, never shown, everywhere else."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    StringConstraints,
)

from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.owners import EVERYONE, GroupName, OwnerGroup
from sluice.contracts.wording import StringRule, in_words

#: Bytes of a value in UTF-8.
MOST_SECRET = 64 * 1024
#: How ``sluice:bind`` names a secret, and how people read it.
SCHEME = "secret:"

SecretName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"),
    StringRule(
        "a secret's name",
        first="[A-Za-z0-9]",
        other="[A-Za-z0-9_.-]",
        most=100,
        rule=(
            "has letters (A to Z, a to z), digits and _.- only, at most 100, and begins with a"
            " letter or digit"
        ),
    ),
]

#: Names of templates, by a shell pattern.
TemplateGlob = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_*?\[][A-Za-z0-9_.+@=,~ *?!\[\]-]{0,199}$"),
    StringRule(
        "a pattern of templates' names",
        first=r"[A-Za-z0-9_*?\[]",
        other=r"[A-Za-z0-9_.+@=,~ *?!\[\]-]",
        most=200,
        rule="has what names have, and *, ? and [...], at most 200 characters",
    ),
]
TemplateGlobs = Annotated[list[TemplateGlob], Field(min_length=1, max_length=100)]


def _that_a_tool_can_have(value: SecretStr) -> SecretStr:
    """No error repeats the value, nor a part of it."""
    text = value.get_secret_value()
    if not text:
        raise in_words("the value of a secret is empty")
    if "\0" in text:
        raise in_words(
            "the value of a secret has a NUL character, which no variable and no parameter can have"
        )
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise in_words("the value of a secret is not valid UTF-8") from None
    if size > MOST_SECRET:
        raise in_words(
            f"the value of a secret may have {MOST_SECRET} bytes, and this one has {size}: give a"
            " tool what is larger as a file of a data set"
        )
    return value


#: What is masked wherever it is printed; only as JSON, on its way, it is itself.
IN_JSON_ALONE = PlainSerializer(
    lambda value: value.get_secret_value(), return_type=str, when_used="json"
)


def _is_told(schema: dict[str, Any]) -> None:
    """What is masked is by itself said never to be in an answer."""
    schema.pop("writeOnly", None)


#: Of an answer that tells it, this once.
ToldSecret = Annotated[SecretStr, IN_JSON_ALONE, Field(json_schema_extra=_is_told)]

#: A value.
SecretText = Annotated[
    SecretStr,
    AfterValidator(_that_a_tool_can_have),
    IN_JSON_ALONE,
    Field(description=f"At most {MOST_SECRET} bytes in UTF-8, without NUL."),
]


class SecretContract(Contract):
    """What has values of secrets in it says of none of them what is wrong with it."""

    model_config = ConfigDict(hide_input_in_errors=True)


class SecretRef(Contract):
    """A secret by its name. ``version``: None where it is still open which it will be."""

    name: SecretName
    version: Annotated[int, Field(ge=1)] | None = Field(default=None, exclude_if=absent)

    def __str__(self) -> str:
        return f"{SCHEME}{self.name}" + (
            "" if self.version is None else f" (version {self.version})"
        )


class NewSecret(SecretContract):
    """A value, which becomes the next version of its secret.

    ``templates``: patterns of the names of templates that may use it; None: those of the version
    before. ``group``: whose templates these are; None: the group that owns the templates named, or
    the group of the version before.
    """

    name: SecretName
    value: SecretText
    templates: TemplateGlobs | None = None
    group: Annotated[GroupName | None, Field(exclude_if=absent)] = None


class SecretVersion(Contract):
    """``templates``: patterns of the names of templates that may use it, of those that the
    ``group`` owns."""

    version: int
    created_at: Timestamp
    templates: list[str]
    group: OwnerGroup = EVERYONE

    @property
    def users(self) -> str:
        """Who may use it, in words."""
        owned = "" if self.group == EVERYONE else f" of the group {self.group}"
        return ", ".join(self.templates) + owned

    def may_be_used_by(self, template: str) -> bool:
        return may_use(template, self.templates)


def may_use(template: str, patterns: Iterable[str]) -> bool:
    """``template``: its name."""
    return any(fnmatchcase(template, pattern) for pattern in patterns)


class Secret(Contract):
    """Versions that are kept, the newest first; never their values.

    ``refused``: why the template that was asked about may not use the newest version.
    """

    name: str
    versions: list[SecretVersion]
    refused: Annotated[str | None, Field(exclude_if=absent)] = None

    @property
    def newest(self) -> SecretVersion:
        return self.versions[0]


class SecretList(Contract):
    """By name."""

    secrets: list[Secret]


class SecretsRequest(Contract):
    """What a job of a template needs; ``secrets``: by its tool's port, each with its version."""

    template: str
    secrets: dict[str, SecretRef]


class SecretValues(SecretContract):
    """By port of the tool."""

    values: dict[str, SecretText]


class Sealed(Contract):
    """Text that only the services can read which have the key: what the WMS asks about values of
    secrets, and what it is answered."""

    text: str
