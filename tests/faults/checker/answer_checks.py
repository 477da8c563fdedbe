"""Every confirmed annotation is stored once, and there are no others."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.faults.checker.expectation import ExpectedAnnotations
from tests.faults.checker.snapshot import Row, group_rows
from tests.faults.checker.view import RunView, StepView, View

#: Number of equal annotations that decide an item.
_AGREEMENT = 2


def check_annotations_complete(view: View) -> Iterator[str]:
    """Require that the stored annotations are those that browsers had confirmed."""
    for run, _, question, items in _list_human_tasks(view):
        for name, item in items.items():
            answers = [row for row in _list_shown_items(view, item) if row["answer"] is not None]
            if len(answers) != question.answer_counts[name]:
                yield (
                    f"{run.expected.dataset}: {question.answer_counts[name]} browsers were told"
                    f" that their answer to {name} was accepted; {len(answers)} are stored"
                )
            for row in answers:
                if row["answer"] != question.words[name]:
                    yield f"{run.expected.dataset}: {name} was answered with {row['answer']}"


def check_items_decided(view: View) -> Iterator[str]:
    """Require that each job had one item, which is decided and returned to its chain."""
    for run, step, question, items in _list_human_tasks(view):
        own = [row for row in view.state.rows("ask", "items") if _is_item_of_step(row, step)]
        jobs = Counter(row["job_id"] for row in own)
        if jobs != Counter(job["id"] for job in step.jobs):
            yield f"{run.expected.dataset}: people were asked about {len(own)} items"
        for name in question.words.keys() - items.keys():
            yield f"{run.expected.dataset}: nobody was asked about {name}"
        for name, item in items.items():
            if (item["state"], item["answer"]) != ("delivered", question.words[name]):
                yield (
                    f"{run.expected.dataset}: {name} is {item['state']} as {item['answer']}:"
                    f" {item['reason']}"
                )


def check_annotations_in_files(view: View) -> Iterator[str]:
    """Require that an answer file has each confirmed annotation once."""
    for run, step, question, items in _list_human_tasks(view):
        for file in view.files(step.outputs["answer"]):
            name = file.own_name
            where = f"{run.expected.dataset}: the file of {name}"
            browsers = {str(row["browser_uid"]) for row in _list_answers(view, items, name)}
            for place in file.paths:
                content = _read_json(place)
                answers = content.get("answers", [])
                answer_counts = Counter((one["browser_uid"], one["answer"]) for one in answers)
                expected_annotations = Counter(
                    dict.fromkeys(((one, question.words[name]) for one in browsers), 1)
                )
                if answer_counts != expected_annotations or len(answers) < _AGREEMENT:
                    yield f"{where} has {dict(answer_counts)}, not {dict(expected_annotations)}"
                if (content.get("answer"), content.get("agreed")) != (
                    question.words[name],
                    len(answers),
                ):
                    yield f"{where} says {content.get('answer')} by {content.get('agreed')}"


def _list_human_tasks(
    view: View,
) -> Iterator[tuple[RunView, StepView, ExpectedAnnotations, dict[str, Row]]]:
    """Yield runs with human tasks, and their items by the names of files."""
    for run in view.runs:
        if run.expected.human_task is not None:
            step = next(iter(run.steps.values()))
            items = [row for row in view.state.rows("ask", "items") if _is_item_of_step(row, step)]
            by_name = {row["content"]["title"]: row for row in items}
            yield run, step, run.expected.human_task, by_name


def _is_item_of_step(item: Row, step: StepView) -> bool:
    return bool(item["task_uid"] == step.task["uid"])


def _list_answers(view: View, items: dict[str, Row], name: str) -> list[Row]:
    if name not in items:
        return []
    return [row for row in _list_shown_items(view, items[name]) if row["answer"] is not None]


def _list_shown_items(view: View, item: Row) -> list[Row]:
    return group_rows(view.state.rows("ask", "assignments"), "item_uid").get(item["uid"], [])


def _read_json(place: str) -> dict[str, Any]:
    """Return the content of a file, or nothing if it is missing; other checks report that."""
    path = Path(place)
    facts: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
    return facts
