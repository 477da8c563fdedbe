"""Ids that every log line has."""

from structlog.contextvars import get_contextvars

from sluice.servicekit.logging import log_ids


def test_ids_are_those_of_the_innermost_work() -> None:
    with log_ids(chain="a", task=None):
        with log_ids(chain="b", job=3):
            assert _known() == {"chain": "b", "job": "3"}
        assert _known() == {"chain": "a"}
    assert _known() == {}


def test_ids_end_with_the_work_however_it_ends() -> None:
    try:
        with log_ids(job=3):
            raise ValueError
    except ValueError:
        assert _known() == {}


def _known() -> dict[str, str]:
    return {name: value for name, value in get_contextvars().items() if name != "service"}
