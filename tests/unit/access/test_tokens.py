"""Fixed tokens, those of pilots, and sessions of browsers."""

import time
from collections.abc import Callable
from uuid import UUID

import pytest
from itsdangerous.timed import TimestampSigner

from sluice.contracts.access import Role
from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.principal import Person, PilotCaller
from sluice.servicekit.access.tokens import PILOT_TOKEN, FirstOf, FixedTokens, PilotTokens

ANNA = Person("anna", Role.ADMIN)
PILOT = UUID(int=1)
WEEK = 7 * 24 * 3600


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets so many seconds pass for whoever looks at the time of a signature."""
    now = int(time.time())

    def pass_(seconds: int) -> None:
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now + seconds)

    return pass_


async def test_a_fixed_token_is_its_owners_and_no_part_of_it() -> None:
    known = FixedTokens({"open-sesame": ANNA})

    assert await known.principal("open-sesame") == ANNA
    assert [
        await known.principal(t) for t in ("open-sesam", "", "open-sesame ", "OPEN-SESAME")
    ] == [None] * 4


async def test_an_empty_token_is_nobodys() -> None:
    assert await FixedTokens({"": ANNA}).principal("") is None


async def test_a_pilots_token_is_that_pilots_for_an_hour(later: Callable[[int], None]) -> None:
    tokens = PilotTokens(["key"])
    token = tokens.give(PILOT)

    later(PILOT_TOKEN - 60)
    assert await tokens.principal(token) == PilotCaller(PILOT)
    later(PILOT_TOKEN + 60)
    with pytest.raises(
        Unauthenticated,
        match=r"^the pilot's token of \d{4}-\d\d-\d\d [\d:]{8} UTC has expired: the pilot has",
    ):
        await tokens.principal(token)


async def test_a_pilots_token_of_another_key_or_changed_is_nobodys() -> None:
    token = PilotTokens(["key"]).give(PILOT)
    payload, at, signature = token.rsplit(".", 2)
    forged = PilotTokens(["other"]).give(UUID(int=2)).rsplit(".", 2)[0]

    assert await PilotTokens(["other"]).principal(token) is None
    assert await PilotTokens(["key"]).principal(f"{forged}.{at}.{signature}") is None
    assert await PilotTokens(["key"]).principal(payload) is None


async def test_keys_are_changed_without_a_stop() -> None:
    """The new one signs; what the old one signed holds until that is gone."""
    old = PilotTokens(["old"]).give(PILOT)
    both = PilotTokens(["old", "new"])

    assert await both.principal(old) == PilotCaller(PILOT)
    assert await PilotTokens(["new"]).principal(both.give(PILOT)) == PilotCaller(PILOT)
    assert await PilotTokens(["new"]).principal(old) is None


async def test_whoever_knows_a_token_says_whose_it_is() -> None:
    tokens = PilotTokens(["key"])
    known = FirstOf([FixedTokens({"open-sesame": ANNA}), tokens])

    assert await known.principal("open-sesame") == ANNA
    assert await known.principal(tokens.give(PILOT)) == PilotCaller(PILOT)
    assert await known.principal("something else") is None
