"""Errors about accounts, tokens and sign-in."""

from uuid import UUID

from sluice.contracts.common.problems import (
    Conflict,
    Forbidden,
    NotFound,
    ServiceError,
    Unauthenticated,
)
from sluice.text.visible_text import quoted


class PersonUnknown(NotFound):
    """The account does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no account is named {quoted(name)} (`sluice user list` shows them)",
            name=name,
        )


class PersonExists(Conflict):
    """The name of a new account is taken."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"an account named {quoted(name)} already exists: `sluice user role`, `password` and"
            " `enable` change it",
            name=name,
        )


class TokenUnknown(NotFound):
    """The token does not exist or belongs to somebody else; the error does not reveal which."""

    def __init__(self, token: UUID) -> None:
        super().__init__(f"you have no token {token} (`sluice token list`)", id=token)


class WrongPassword(Unauthenticated):
    """The sign-in failed; the error does not reveal whether the account exists."""

    def __init__(self) -> None:
        super().__init__("the name or the password is wrong")


class InsufficientRole(Forbidden):
    """The role of the principal is too low; ``who`` says what it is."""

    def __init__(self, what: str, who: str) -> None:
        super().__init__(f"{what}, and {who}")


class TooManySignInAttempts(ServiceError):
    """There were too many attempts to sign in."""

    status, slug, title = 429, "too-many-tries", "Too many attempts"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"too many attempts to sign in: wait {seconds} s. Tokens and existing sessions remain"
            " valid",
            seconds=seconds,
        )


class TooManySignIns(ServiceError):
    """The person has begun too many sessions."""

    status, slug, title = 429, "too-many-sign-ins", "Too many sign-ins"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"you have signed in too often: wait {seconds} s, or use an existing session. Programs"
            " should send their token with each request",
            seconds=seconds,
        )


class ProviderRefused(Unauthenticated):
    """The sign-in through an OpenID provider failed."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"sign-in with the provider failed: {reason}")


class TooManyTokens(Conflict):
    """The person has the maximum number of tokens."""

    def __init__(self, name: str, limit: int) -> None:
        super().__init__(
            f"{name} has {limit} valid tokens, the maximum: revoke some"
            " (`sluice token list`, `sluice token revoke`)",
            name=name,
        )


class DeviceLoginUnknown(NotFound):
    """No device login waits with this code; the error does not reveal whether there was one."""

    def __init__(self) -> None:
        super().__init__(
            "no command waits with this code, which is valid once and for ten minutes: run `sluice"
            " login` again"
        )


class DeviceLoginRefused(Forbidden):
    """The device login was refused."""

    def __init__(self) -> None:
        super().__init__("the sign-in was refused in the browser")


class TooManyDeviceLogins(ServiceError):
    """There were too many device logins or wrong codes."""

    status, slug, title = 429, "too-many-codes", "Too many codes"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"too many codes were requested or were wrong: wait {seconds} s (names, passwords and"
            " tokens still work)",
            seconds=seconds,
        )


class OwnAccountChange(Conflict):
    """Administrators may not take away their own role, so that one of them always remains."""

    def __init__(self) -> None:
        super().__init__("you cannot remove your own role: ask another administrator")
