"""People who ask: their accounts, their tokens, and how they sign in."""

import re
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    StringConstraints,
)

from sluice.contracts.access import Role
from sluice.contracts.base import Contract, Timestamp
from sluice.contracts.owners import GroupName, GroupNames
from sluice.contracts.secrets import IN_JSON_ALONE, SecretContract, ToldSecret
from sluice.contracts.wording import StringRule, in_words

#: Characters of a password: NIST SP 800-63B asks for a length, and for no kinds of characters.
LEAST_PASSWORD, MOST_PASSWORD = 12, 512
#: Characters of whatever somebody claims to be one.
MOST_CLAIMED = 4096
#: What every token of a person begins with, so that one which lies somewhere is known as such.
TOKEN_PREFIX = "sluice_"  # noqa: S105 - its beginning
#: Days for which a token holds at most, and if nothing is said.
MOST_DAYS, USUAL_DAYS = 366, 30

_NAME = r"^[a-z0-9][a-z0-9._@-]{0,99}$"
PersonName = Annotated[
    str,
    StringConstraints(pattern=_NAME),
    StringRule(
        "the name of an account",
        first="[a-z0-9]",
        other="[a-z0-9._@-]",
        most=100,
        rule=(
            "has small letters (a to z), digits and ._@- only, at most 100, and begins with a"
            " letter or digit"
        ),
    ),
]


def is_name(text: str) -> bool:
    """Whether a person may be called so."""
    return re.fullmatch(_NAME, text) is not None


Label = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00-\x1f]{1,100}$"),
    StringRule(
        "a token's label",
        first=r"[^\x00-\x1f]",
        other=r"[^\x00-\x1f]",
        most=100,
        rule="has at most 100 characters, and no control character",
    ),
]


def _long_enough(password: SecretStr) -> SecretStr:
    """No error repeats it."""
    text = password.get_secret_value()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise in_words("a password is text in UTF-8, and this one is none") from None
    length = len(text)
    if not LEAST_PASSWORD <= length <= MOST_PASSWORD:
        raise in_words(
            f"a password has {LEAST_PASSWORD} to {MOST_PASSWORD} characters, and this one has"
            f" {length}"
        )
    return password


Password = Annotated[
    SecretStr,
    AfterValidator(_long_enough),
    IN_JSON_ALONE,
    Field(description=f"{LEAST_PASSWORD} to {MOST_PASSWORD} characters."),
]
#: Whatever somebody says his password, or his token, is.
Claimed = Annotated[SecretStr, IN_JSON_ALONE, Field(max_length=MOST_CLAIMED)]


#: Of accounts.
IN_GROUPS = (
    "The groups that the person is in, beside `everyone`; what he makes is the first one's, where"
    " he does not say whose."
)


class NewAccount(SecretContract):
    """``password``: None: who has none signs in with tokens alone, which an administrator makes."""

    name: PersonName
    role: Role = Role.VIEWER
    password: Password | None = None
    groups: GroupNames = Field(default_factory=list, description=IN_GROUPS)


class AccountChange(SecretContract):
    """What is None stays as it is. ``password``: a new one ends all sessions of the person."""

    role: Role | None = None
    disabled: bool | None = None
    password: Password | None = None
    groups: GroupNames | None = Field(default=None, description=IN_GROUPS)


class Account(Contract):
    """``disabled_at``: since then nothing that is the person's opens anything."""

    name: str
    role: Role
    has_password: bool
    created_at: Timestamp
    disabled_at: Timestamp | None = None
    groups: list[GroupName] = Field(default_factory=list)


class AccountList(Contract):
    """By name."""

    accounts: list[Account]


class Me(Contract):
    """Who asks. ``account``: None where it is nobody with an account: whoever has the system's own
    token."""

    name: str
    role: Role
    account: Account | None = None
    groups: list[GroupName] = Field(default_factory=list)


class NewPassword(SecretContract):
    old: Claimed
    new: Password


class NewToken(Contract):
    """``role``: the most that it may; None: as much as its person. ``days`` until it ends.
    ``person``: None: who asks; another one's are made by administrators."""

    label: Label
    role: Role | None = None
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = USUAL_DAYS
    person: PersonName | None = None


class Token(Contract):
    """Of a person; what it is nobody can read any more. ``used_at``: the last time, to the
    minute."""

    id: UUID
    person: str
    label: str
    role: Role
    created_at: Timestamp
    expires_at: Timestamp
    used_at: Timestamp | None = None
    revoked_at: Timestamp | None = None

    def holds(self, at: datetime) -> bool:
        return self.revoked_at is None and at < self.expires_at


class TokenList(Contract):
    """The newest first."""

    tokens: list[Token]


class NewTokenSecret(SecretContract):
    """``secret``: what is sent with requests; it is told this once."""

    token: Token
    secret: ToldSecret


class SignInWithPassword(SecretContract):
    """A token for whoever knows the password. ``label``: what it is for."""

    name: Annotated[str, Field(max_length=100)]
    password: Claimed
    label: Label = "sluice login"


class TokenQuestion(SecretContract):
    """A service asks whose a token is that it was sent (as RFC 7662 has it)."""

    token: Claimed


class TokenHolder(Contract):
    """``name``, ``role``: None: the token opens nothing."""

    name: str | None = None
    role: Role | None = None
    groups: list[GroupName] = Field(default_factory=list)


class OnBehalfOf(Contract):
    """For whom a service asks another one, and which request of his it answers."""

    name: str
    role: Role
    groups: list[GroupName]
    request: UUID
