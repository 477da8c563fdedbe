"""Corruptions of annotations, by the check that must find them."""

from sluice.contracts.common.states import AskItemState
from tests.faults.checker.snapshot import Row, Snapshot


def _answered(state: Snapshot) -> Row:
    return next(row for row in state.rows("ask", "shown") if row["answer"] is not None)


def answer_lost(state: Snapshot) -> None:
    _answered(state)["answer"] = None


def answer_doubled(state: Snapshot) -> None:
    state.rows("ask", "shown").append(_answered(state) | {"device_uid": "another"})


def answer_changed(state: Snapshot) -> None:
    row = _answered(state)
    row["answer"] = "odd" if row["answer"] == "even" else "even"


def item_open(state: Snapshot) -> None:
    state.rows("ask", "items")[0]["state"] = AskItemState.OPEN


def item_decided_otherwise(state: Snapshot) -> None:
    state.rows("ask", "items")[0]["answer"] = "neither"


def item_missing(state: Snapshot) -> None:
    state.rows("ask", "items").pop()


def item_doubled(state: Snapshot) -> None:
    items = state.rows("ask", "items")
    items.append(items[0] | {"uid": "another"})


ANSWER_SPOILS = {
    "answers kept": [answer_lost, answer_doubled, answer_changed],
    "items given": [item_open, item_decided_otherwise, item_missing, item_doubled],
    "answers in files": [answer_lost, answer_doubled],
}
