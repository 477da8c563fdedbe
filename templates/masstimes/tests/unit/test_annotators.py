"""Simulated annotators of the demonstration, and the criteria of its success."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from masstimes.annotators import Annotator, Manner, choose_answer
from masstimes.demo import find_problems
from masstimes.knowledge import make_gold_items, read_true_answers

from sluice.contracts.human_tasks.ask import Show
from templates.masstimes.tests.unit.contexts import list_candidates, write
from wfms.ask.domain.contents import read_content


@pytest.mark.parametrize(
    ("manner", "errors"),
    [
        (Manner.CAREFUL, 0.04),
        (Manner.CARELESS, 0.15),
        (Manner.BY_CHANCE, 0.5),
        (Manner.ALWAYS_YES, 0.5),
    ],
)
def test_annotators_err_as_often_as_their_manner_says(manner: Manner, errors: float) -> None:
    random = Random(1)
    mistakes = [choose_answer(manner, right, random) != right for right in [True, False] * 5000]
    assert sum(mistakes) / len(mistakes) == pytest.approx(errors, abs=0.02)


def test_truth_is_found_by_context_and_mark(tmp_path: Path) -> None:
    lines = list_candidates("Msze 7:00, 9:00, biuro 16:00", site="p.pl")
    masses = [{"candidate": 1}, {"candidate": None}]
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"pages": {lines[0]["url"]: masses}}))
    true_answers = read_true_answers(truth, [write(tmp_path / "candidates", lines)])
    assert [true_answers[line["context"], line["start"], line["end"]] for line in lines] == [
        False,
        True,
        False,
    ]


def test_unknown_item_is_an_error() -> None:
    person = Annotator("one", Manner.CAREFUL, {}, Random(1))
    with pytest.raises(LookupError, match="no answer is known for '7:00'"):
        person._make_answer({"id": "x", "text": "o 7:00", "mark": [2, 6]})


def test_gold_items_are_half_yes_and_can_be_shown() -> None:
    items = make_gold_items(50, seed=1)
    assert [item["answer"] for item in items].count("yes") == 25
    contents = [read_content(json.dumps(item).encode(), Show.TEXT) for item in items]
    assert len({(content.text, content.mark) for content in contents}) == 50
    assert make_gold_items(50, seed=1) == items


GOOD = {
    "cheats": 2,
    "cheats_found": 2,
    "honest_excluded": 0,
    "recall": 0.95,
    "precision": 0.95,
    "rules_alone": {"recall": 0.6, "precision": 1.0},
    "table": {"rows": 300},
    "second_run": {"fetched": 10, "changed": 10},
    "_only_changed": True,
}


def test_good_run_has_no_faults() -> None:
    assert list(find_problems(GOOD)) == []


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"cheats_found": 1}, "1 of 2 cheats were found"),
        ({"honest_excluded": 1}, "1 others taken for some"),
        ({"recall": None}, "the recall of the table is None"),
        ({"precision": 0.5}, "the precision of the table is 0.5"),
        ({"rules_alone": {"recall": 0.99}}, "the rules alone find more"),
        ({"table": {"rows": 0}}, "no rows"),
        ({"_only_changed": False}, "took other sites"),
    ],
)
def test_fault_of_a_run_is_reported(bad: dict[str, Any], message: str) -> None:
    assert message in " ".join(find_problems({**GOOD, **bad}))
