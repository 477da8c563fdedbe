"""Training examples, and input that is refused before training."""

import sys
from pathlib import Path
from typing import Any

import pytest
from masstimes.classifier.examples import (
    TooFewAnswers,
    draw_random_negatives,
    find_rule_examples,
    read_labelled_examples,
    split,
)
from masstimes.classifier.measures import Measures, measure_answers
from masstimes.classifier.train_command import main

from templates.masstimes.tests.unit.contexts import list_candidates, make_answered_sites, write


def run(*arguments: object) -> int:
    out = ["--out", "/nonexistent/model", "--measures", "/nonexistent/measures"]
    return main([*map(str, arguments), *out])


def test_training_and_test_sites_are_disjoint(tmp_path: Path) -> None:
    people = read_labelled_examples([write(tmp_path / "a", make_answered_sites(50, seed=1))], print)
    learned, tested = split(people, seed=1, part=0.2)
    assert len(tested) == 10
    assert learned.isdisjoint(tested)
    assert learned | tested == {each.domain for each in people}
    assert split(people, seed=1, part=0.2) == (learned, tested)
    assert split(people, seed=2, part=0.2) != (learned, tested)


def test_one_of_two_sites_is_kept_for_testing(tmp_path: Path) -> None:
    people = read_labelled_examples([write(tmp_path / "a", make_answered_sites(2, seed=1))], print)
    assert [len(side) for side in split(people, seed=1, part=0.01)] == [1, 1]
    assert [len(side) for side in split(people, seed=1, part=0.99)] == [1, 1]
    with pytest.raises(TooFewAnswers, match="of 1 sites"):
        split([each for each in people if each.domain == "0.pl"], seed=1, part=0.2)


def test_answer_of_the_majority_becomes_the_label(tmp_path: Path) -> None:
    [line] = list_candidates("Msza 7:00", site="a.pl")
    messages: list[str] = []

    def of(*answers: str) -> list[bool]:
        path = write(tmp_path / "answers", [line | {"answer": answer} for answer in answers])
        return [each.is_mass for each in read_labelled_examples([path], messages.append)]

    assert of("yes", "no", "yes") == [True]
    assert of("no") == [False]
    assert messages == []
    assert of("yes", "no") == []
    assert messages == ["1 candidates have as many answers yes as no, and were left out"]


def test_hours_found_by_the_rules_are_positives_unless_people_answered(tmp_path: Path) -> None:
    lines = list_candidates("Msze 7:00, 9:00, 11:00", site="a.pl")
    order = {"url": lines[0]["url"], "sundays": ["07:00"], "weekdays": ["09:00"]}
    orders, candidates = write(tmp_path / "o", [order]), write(tmp_path / "c", lines)
    examples = find_rule_examples([orders], [candidates], known_ids={lines[1]["id"]})
    assert [(each.id, each.is_mass) for each in examples] == [(lines[0]["id"], True)]


def test_random_negatives_are_drawn_by_seed(tmp_path: Path) -> None:
    lines = [
        line | {"id": str(n)} for n in range(50) for line in list_candidates("o 7:00", site="a.pl")
    ]
    others = [write(tmp_path / "o", lines)]
    drawn = draw_random_negatives(others, 5, known_ids={"3"}, seed=1)
    assert drawn == draw_random_negatives(others, 5, known_ids={"3"}, seed=1)
    assert drawn != draw_random_negatives(others, 5, known_ids={"3"}, seed=2)
    assert not any(each.is_mass for each in drawn)
    assert len(draw_random_negatives(others, 99, known_ids={"3"}, seed=1)) == 49


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "there is nothing to learn from"),
        (make_answered_sites(1, seed=1), "of 1 sites"),
        (
            [line | {"answer": "yes"} for line in make_answered_sites(9, seed=1)],
            "are yes: training",
        ),
        ([line | {"answer": "no"} for line in make_answered_sites(9, seed=1)], "are no: training"),
        (
            [make_answered_sites(1, seed=1)[0] | {"answer": "help"}],
            "has answer 'help', not yes or no",
        ),
        ([make_answered_sites(1, seed=1)[0] | {"start": 99}], "has no hour"),
        ([make_answered_sites(1, seed=1)[0] | {"start": True, "end": 2}], "has no hour"),
        ([make_answered_sites(1, seed=1)[0] | {"hour": "rano"}], "has no hour 'rano'"),
    ],
)
def test_too_few_or_wrong_answers_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[dict[str, Any]], message: str
) -> None:
    assert run(write(tmp_path / "answers", lines)) == 65
    assert message in capsys.readouterr().err


def test_missing_torch_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(write(tmp_path / "answers", make_answered_sites(9, seed=1))) == 69
    assert "torch is not installed: install the extra `train`" in capsys.readouterr().err


def test_measures_without_examples_are_none() -> None:
    measures = measure_answers([(True, True), (True, False), (False, True), (False, False)])
    assert measures == Measures(
        true_positives=1, false_positives=1, false_negatives=1, true_negatives=1
    )
    assert (measures.recall, measures.precision, measures.f1, measures.accuracy) == (
        0.5,
        0.5,
        0.5,
        0.5,
    )
    nothing = measure_answers([])
    assert (nothing.recall, nothing.precision, nothing.f1, nothing.accuracy) == (None,) * 4
