"""The request log of the small web never dates an answer later than its client."""

from itertools import count
from typing import Any

import pytest
from masstimes.small_web import asgi


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each look at the clock a second later."""
    ticks = count(1.0)
    monkeypatch.setattr(asgi, "now", lambda: next(ticks))


def make_exchange() -> asgi.Exchange:
    async def take(_: dict[str, Any]) -> None:
        asgi.now()  # sending takes a second

    scope = {"path": "/", "query_string": b"", "method": "GET", "headers": [(b"host", b"a:1")]}
    return asgi.make_exchange(scope, None, take)


@pytest.mark.usefixtures("clock")
async def test_answer_without_a_body_ends_with_its_head() -> None:
    exchange = make_exchange()
    await exchange.answer(404)
    assert (exchange.answer_time, exchange.end_time) == (1.0, 1.0)


@pytest.mark.usefixtures("clock")
async def test_answer_with_a_body_ends_before_its_last_byte_is_sent() -> None:
    exchange = make_exchange()
    await exchange.answer(200, b"x")
    assert (exchange.answer_time, exchange.end_time) == (1.0, 3.0)
