"""Corruptions of annotations, by the check that must find them."""

from sluice.contracts.common.states import AskItemState
from tests.faults.checker.snapshot import Row, Snapshot


def _find_answered_item(state: Snapshot) -> Row:
    return next(row for row in state.rows("ask", "assignments") if row["answer"] is not None)


def delete_answer(state: Snapshot) -> None:
    _find_answered_item(state)["answer"] = None


def duplicate_answer(state: Snapshot) -> None:
    state.rows("ask", "assignments").append(_find_answered_item(state) | {"browser_uid": "another"})


def change_answer(state: Snapshot) -> None:
    row = _find_answered_item(state)
    row["answer"] = "odd" if row["answer"] == "even" else "even"


def reopen_item(state: Snapshot) -> None:
    state.rows("ask", "items")[0]["state"] = AskItemState.OPEN


def change_item_decision(state: Snapshot) -> None:
    state.rows("ask", "items")[0]["answer"] = "neither"


def delete_item(state: Snapshot) -> None:
    state.rows("ask", "items").pop()


def duplicate_item(state: Snapshot) -> None:
    items = state.rows("ask", "items")
    items.append(items[0] | {"uid": "another"})


ANNOTATION_CORRUPTIONS = {
    "annotations complete": [delete_answer, duplicate_answer, change_answer],
    "items decided": [reopen_item, change_item_decision, delete_item, duplicate_item],
    "annotations in files": [delete_answer, duplicate_answer],
}
