"""Accounts of people, their tokens, and sign-in."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    StringConstraints,
)

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import GroupName, GroupNames
from sluice.contracts.access.secrets import ONLY_IN_JSON, OneTimeSecret, SecretContract
from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.wording import StringRule, in_words, name_rule

#: Length of a password in characters. NIST SP 800-63B requires a length and no character classes.
MIN_PASSWORD, MAX_PASSWORD = 12, 512
#: Maximum length of a password or token in a request.
MAX_CLAIMED = 4096
#: The prefix of all tokens of people. It makes leaked tokens recognizable.
TOKEN_PREFIX = "sluice_"  # noqa: S105 - its beginning
#: Maximum and default lifetime of a token in days.
MAX_DAYS, USUAL_DAYS = 366, 30

_NAME_RULE = name_rule("the name of an account", first="a-z0-9", other="a-z0-9._@-", max_length=100)
PersonName = Annotated[
    str,
    _NAME_RULE,
]


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of an account."""
    return _NAME_RULE.matches(text)


Label = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00-\x1f]{1,100}$"),
    StringRule(
        "a token's label",
        first=r"[^\x00-\x1f]",
        other=r"[^\x00-\x1f]",
        max_length=100,
        rule="has at most 100 characters, and no control character",
    ),
]


def _long_enough(password: SecretStr) -> SecretStr:
    """Return the password if its length is valid; errors never contain the password."""
    text = password.get_secret_value()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise in_words("a password is text in UTF-8, and this one is not") from None
    length = len(text)
    if not MIN_PASSWORD <= length <= MAX_PASSWORD:
        raise in_words(
            f"a password has {MIN_PASSWORD} to {MAX_PASSWORD} characters, and this one has {length}"
        )
    return password


Password = Annotated[
    SecretStr,
    AfterValidator(_long_enough),
    ONLY_IN_JSON,
    Field(description=f"{MIN_PASSWORD} to {MAX_PASSWORD} characters."),
]
#: A password or token in a request, not yet verified.
Claimed = Annotated[SecretStr, ONLY_IN_JSON, Field(max_length=MAX_CLAIMED)]


#: Description of the groups of an account.
IN_GROUPS = (
    "The groups of the person besides `everyone`. Objects that the person creates belong to the"
    " first group by default."
)


class NewAccount(SecretContract):
    """A request to create an account.

    Attributes:
        password: The password. A person without one can only use tokens, which an administrator
            creates.
    """

    name: PersonName
    role: Role = Role.VIEWER
    password: Password | None = None
    groups: GroupNames = Field(default_factory=list, description=IN_GROUPS)


class AccountChange(SecretContract):
    """A request to change an account.

    Fields that are null do not change.

    Attributes:
        password: The new password. It ends all sessions of the person.
    """

    role: Role | None = None
    disabled: bool | None = None
    password: Password | None = None
    groups: GroupNames | None = Field(default=None, description=IN_GROUPS)


class Account(Contract):
    """An account.

    Attributes:
        disabled_at: Since this time, no password, session or token of the person is accepted.
    """

    name: str
    role: Role
    has_password: bool
    created_at: Timestamp
    disabled_at: Timestamp | None = None
    groups: list[GroupName] = Field(default_factory=list)


class AccountList(Contract):
    """All accounts, by name."""

    accounts: list[Account]


class Me(Contract):
    """The caller.

    Attributes:
        account: None if the caller has no account, for example with the system's own token.
    """

    name: str
    role: Role
    account: Account | None = None
    groups: list[GroupName] = Field(default_factory=list)


class NewPassword(SecretContract):
    """A request to change the caller's password."""

    old: Claimed
    new: Password


class NewToken(Contract):
    """A request to create a token.

    Attributes:
        role: The maximum role of the token. Defaults to the role of its person.
        days: Days until the token expires.
        person: The person that the token is for. Defaults to the caller. Only administrators create
            tokens for others.
    """

    label: Label
    role: Role | None = None
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] = USUAL_DAYS
    person: PersonName | None = None


class Token(Contract):
    """A token of a person, without its secret.

    Attributes:
        used_at: The time of the last use, to the minute.
    """

    id: UUID
    person: str
    label: str
    role: Role
    created_at: Timestamp
    expires_at: Timestamp
    used_at: Timestamp | None = None
    revoked_at: Timestamp | None = None

    def holds(self, at: datetime) -> bool:
        """Return whether the token is valid at this time."""
        return self.revoked_at is None and at < self.expires_at


class TokenList(Contract):
    """Tokens, the newest first."""

    tokens: list[Token]


class NewTokenSecret(SecretContract):
    """A new token with its secret, which is shown only once.

    Attributes:
        secret: The text that requests contain.
    """

    token: Token
    secret: OneTimeSecret


class SignInWithPassword(SecretContract):
    """A request for a token with a name and a password.

    Attributes:
        label: The purpose of the token.
    """

    name: Annotated[str, Field(max_length=100)]
    password: Claimed
    label: Label = "sluice login"


class TokenQuestion(SecretContract):
    """A request with a token: for its holder (compare RFC 7662), or to revoke it (RFC 7009)."""

    token: Claimed


class TokenHolder(Contract):
    """The person of a token.

    Attributes:
        name: The name of the person. None if the token is not valid.
        role: The role of the token. None if the token is not valid.
    """

    name: str | None = None
    role: Role | None = None
    groups: list[GroupName] = Field(default_factory=list)


class OnBehalfOf(Contract):
    """The person for whom a service makes a request, and the uid of the person's request."""

    name: str
    role: Role
    groups: list[GroupName]
    request: UUID
