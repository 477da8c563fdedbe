"""Tests of the identifiers that each log line has."""

from structlog.contextvars import get_contextvars

from sluice.servicekit.running.logging import log_ids


def test_nested_log_ids_replace_the_outer_ids() -> None:
    with log_ids(chain="a", task=None):
        with log_ids(chain="b", job=3):
            assert _read_log_ids() == {"chain": "b", "job": "3"}
        assert _read_log_ids() == {"chain": "a"}
    assert _read_log_ids() == {}


def test_log_ids_are_removed_after_an_error() -> None:
    try:
        with log_ids(job=3):
            raise ValueError
    except ValueError:
        assert _read_log_ids() == {}


def _read_log_ids() -> dict[str, str]:
    return {name: value for name, value in get_contextvars().items() if name != "service"}
