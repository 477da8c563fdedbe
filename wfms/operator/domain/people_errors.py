"""What is refused about accounts, tokens and signing in."""

from uuid import UUID

from sluice.contracts.problems import (
    Conflict,
    Forbidden,
    NotFound,
    ServiceError,
    Unauthenticated,
)
from sluice.visible_text import quoted


class PersonUnknown(NotFound):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"nobody has an account of the name {quoted(name)} (`sluice user list` shows them)",
            name=name,
        )


class PersonExists(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is an account of the name {quoted(name)}: `sluice user role`, `password` and"
            " `enable` change it",
            name=name,
        )


class TokenUnknown(NotFound):
    """Also where it is another one's: nobody finds out which there are."""

    def __init__(self, token: UUID) -> None:
        super().__init__(f"you have no token {token} (`sluice token list`)", id=token)


class WrongPassword(Unauthenticated):
    """Whether there is such a person, or one who may sign in, nobody finds out."""

    def __init__(self) -> None:
        super().__init__("the name and the password do not belong together")


class BeyondRole(Forbidden):
    """``who``: and what role he has."""

    def __init__(self, what: str, who: str) -> None:
        super().__init__(f"{what}, and {who}")


class TooManyTries(ServiceError):
    status, slug, title = 429, "too-many-tries", "Too many tries"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"too many wrong passwords: wait {seconds} s. Tokens, and sessions that have begun,"
            " hold meanwhile",
            seconds=seconds,
        )


class TooManySignIns(ServiceError):
    status, slug, title = 429, "too-many-sign-ins", "Too many sign-ins"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"you have signed in too often: wait {seconds} s, or go on with a session that has"
            " begun. Programs send their token with each request",
            seconds=seconds,
        )


class ProviderRefused(Unauthenticated):
    """Signing in by an OpenID provider came to nothing."""

    def __init__(self, why: str) -> None:
        super().__init__(f"signing in by the provider came to nothing: {why}")


class TooManyTokens(Conflict):
    def __init__(self, name: str, most: int) -> None:
        super().__init__(
            f"{name} has {most} tokens that hold, and nobody may have more: take some back"
            " (`sluice token list`, `sluice token revoke`)",
            name=name,
        )


class DeviceLoginUnknown(NotFound):
    """Nobody finds out which there were."""

    def __init__(self) -> None:
        super().__init__(
            "no command waits with this code: it holds for ten minutes, once; type `sluice login`"
            " again"
        )


class DeviceLoginRefused(Forbidden):
    def __init__(self) -> None:
        super().__init__("whoever was asked in the browser has refused it")


class TooManyCodes(ServiceError):
    status, slug, title = 429, "too-many-codes", "Too many codes"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"too many codes were asked for, or wrong: wait {seconds} s (names, passwords and"
            " tokens are taken meanwhile)",
            seconds=seconds,
        )


class OneselfChanged(Conflict):
    """Or the last administrator is none any more."""

    def __init__(self) -> None:
        super().__init__("nobody takes his own role away: another administrator does that")
