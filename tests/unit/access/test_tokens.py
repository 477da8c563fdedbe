"""Tests of fixed tokens and of tokens of pilots."""

import time
from collections.abc import Callable
from uuid import UUID

import pytest
from itsdangerous.timed import TimestampSigner

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.principal import Person, PilotCaller
from sluice.servicekit.access.tokens import (
    PILOT_TOKEN,
    AuthenticatorChain,
    FixedTokens,
    PilotTokens,
)

ANNA = Person("anna", Role.ADMIN)
PILOT = UUID(int=1)
WEEK = 7 * 24 * 3600


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that lets seconds pass for the check of signatures."""
    now = int(time.time())

    def pass_(seconds: int) -> None:
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now + seconds)

    return pass_


async def test_fixed_token_identifies_its_owner_only_if_it_is_exact() -> None:
    fixed_tokens = FixedTokens({"open-sesame": ANNA})

    assert await fixed_tokens.principal("open-sesame") == ANNA
    assert [
        await fixed_tokens.principal(t) for t in ("open-sesam", "", "open-sesame ", "OPEN-SESAME")
    ] == [None] * 4


async def test_empty_token_has_no_principal() -> None:
    assert await FixedTokens({"": ANNA}).principal("") is None


async def test_pilot_token_identifies_its_pilot_until_it_expires(
    later: Callable[[int], None],
) -> None:
    tokens = PilotTokens(["key"])
    token = tokens.issue(PILOT)

    later(PILOT_TOKEN - 60)
    assert await tokens.principal(token) == PilotCaller(PILOT)
    later(PILOT_TOKEN + 60)
    with pytest.raises(
        Unauthenticated,
        match=r"^the pilot's token of \d{4}-\d\d-\d\d [\d:]{8} UTC has expired: the pilot has",
    ):
        await tokens.principal(token)


async def test_forged_pilot_token_has_no_principal() -> None:
    token = PilotTokens(["key"]).issue(PILOT)
    payload, at, signature = token.rsplit(".", 2)
    forged = PilotTokens(["other"]).issue(UUID(int=2)).rsplit(".", 2)[0]

    assert await PilotTokens(["other"]).principal(token) is None
    assert await PilotTokens(["key"]).principal(f"{forged}.{at}.{signature}") is None
    assert await PilotTokens(["key"]).principal(payload) is None


async def test_keys_of_pilot_tokens_can_be_rotated() -> None:
    """The new key signs. Tokens of the old key are valid until it is removed."""
    old = PilotTokens(["old"]).issue(PILOT)
    both = PilotTokens(["old", "new"])

    assert await both.principal(old) == PilotCaller(PILOT)
    assert await PilotTokens(["new"]).principal(both.issue(PILOT)) == PilotCaller(PILOT)
    assert await PilotTokens(["new"]).principal(old) is None


async def test_first_authenticator_that_knows_a_token_gives_its_principal() -> None:
    tokens = PilotTokens(["key"])
    authenticators = AuthenticatorChain([FixedTokens({"open-sesame": ANNA}), tokens])

    assert await authenticators.principal("open-sesame") == ANNA
    assert await authenticators.principal(tokens.issue(PILOT)) == PilotCaller(PILOT)
    assert await authenticators.principal("something else") is None
