"""Secrets of tools.

The operator service stores the values encrypted. Everywhere else, a secret is named and its value
never shown.
"""

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

from sluice.contracts.access.owners import EVERYONE, GroupName, OwnerGroup
from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.wording import StringRule, in_words, name_rule

#: Most bytes of a value in UTF-8.
MAX_SECRET = 64 * 1024
#: The prefix of a secret in ``sluice:bind`` and in texts.
SECRET_SCHEME = "secret:"  # noqa: S105 - a prefix of names

SecretName = Annotated[
    str,
    name_rule("a secret's name", first="A-Za-z0-9", other="A-Za-z0-9_.-", max_length=100),
]

#: A shell pattern of names of templates.
TemplateGlob = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_*?\[][A-Za-z0-9_.+@=,~ *?!\[\]-]{0,199}$"),
    StringRule(
        "a pattern of templates' names",
        first=r"[A-Za-z0-9_*?\[]",
        other=r"[A-Za-z0-9_.+@=,~ *?!\[\]-]",
        max_length=200,
        rule="has what names have, and *, ? and [...], at most 200 characters",
    ),
]
TemplateGlobs = Annotated[list[TemplateGlob], Field(min_length=1, max_length=100)]


def _require_usable(value: SecretStr) -> SecretStr:
    """Check that a tool can get the value; no error repeats any part of it."""
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
    if size > MAX_SECRET:
        raise in_words(
            f"the value of a secret may have {MAX_SECRET} bytes, and this one has {size}: give"
            " larger values to tools as a file of a data set"
        )
    return value


#: A secret value is masked when printed. Only its JSON has the value.
ONLY_IN_JSON = PlainSerializer(
    lambda value: value.get_secret_value(), return_type=str, when_used="json"
)


def _remove_write_only(schema: dict[str, Any]) -> None:
    """Remove ``writeOnly``, which pydantic sets for masked fields, from the schema."""
    schema.pop("writeOnly", None)


#: A secret value in the only answer that shows it.
OneTimeSecret = Annotated[SecretStr, ONLY_IN_JSON, Field(json_schema_extra=_remove_write_only)]

#: The value of a secret.
SecretText = Annotated[
    SecretStr,
    AfterValidator(_require_usable),
    ONLY_IN_JSON,
    Field(description=f"At most {MAX_SECRET} bytes in UTF-8, without NUL."),
]


class SecretContract(Contract):
    """A contract with secret values, which its errors do not repeat."""

    model_config = ConfigDict(hide_input_in_errors=True)


class SecretRef(Contract):
    """A reference to a secret.

    Attributes:
        name: The name of the secret.
        version: The version. None means that it is not fixed yet.
    """

    name: SecretName
    version: Annotated[int, Field(ge=1)] | None = None

    def __str__(self) -> str:
        return f"{SECRET_SCHEME}{self.name}" + (
            "" if self.version is None else f" (version {self.version})"
        )


class NewSecret(SecretContract):
    """A request to store the next version of a secret.

    Attributes:
        name: The name of the secret.
        value: The value.
        templates: Patterns of names of the templates that may use the secret. Defaults to those of
            the version before.
        group: The group that owns these templates. Defaults to the owner of the named templates, or
            to the group of the version before.
    """

    name: SecretName
    value: SecretText
    templates: TemplateGlobs | None = None
    group: GroupName | None = None


class SecretVersion(Contract):
    """A version of a secret, without its value.

    Attributes:
        version: The number of the version.
        created_at: When it was set.
        templates: Patterns of names of the templates that may use it.
        group: The group that owns these templates.
    """

    version: int
    created_at: Timestamp
    templates: list[str]
    group: OwnerGroup = EVERYONE

    @property
    def users(self) -> str:
        """The templates that may use it, in words."""
        owned = "" if self.group == EVERYONE else f" of the group {self.group}"
        return ", ".join(self.templates) + owned

    def may_be_used_by(self, template: str) -> bool:
        """Return whether a template of this name may use the version."""
        return may_use(template, self.templates)


def may_use(template: str, patterns: Iterable[str]) -> bool:
    """Return whether the name of a template matches any of the patterns."""
    return any(fnmatchcase(template, pattern) for pattern in patterns)


class Secret(Contract):
    """A secret and its stored versions, without their values.

    Attributes:
        name: The name of the secret.
        versions: The versions, newest first.
        refused: Why the template in question may not use the newest version.
    """

    name: str
    versions: list[SecretVersion]
    refused: str | None = None

    @property
    def newest(self) -> SecretVersion:
        """The newest version."""
        return self.versions[0]


class SecretList(Contract):
    """Secrets by name."""

    secrets: list[Secret]


class SecretsRequest(Contract):
    """A request for the secrets that a job needs.

    Attributes:
        template: The name of the template of the job.
        secrets: References with versions, by port of the tool.
    """

    template: str
    secrets: dict[str, SecretRef]


class SecretValues(SecretContract):
    """Values of secrets, by port of the tool."""

    values: dict[str, SecretText]


class Sealed(Contract):
    """Encrypted text that only services with the shared key can read.

    The WMS requests the values of secrets in this form and gets them in this form.
    """

    text: str
