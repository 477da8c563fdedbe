"""Sequential test that finds annotators who answer without looking."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from wfms.ask.domain.trust import (
    LIMIT,
    AnswerReference,
    count_right_answers,
    is_gold,
    others_agree_on,
    score,
)

ANSWERS = ("yes", "no")
Answerer = Callable[[str, Random], str]


def answer_carefully(right: str, draw: Random) -> str:
    return right if draw.random() > 0.04 else next(word for word in ANSWERS if word != right)


def answer_carelessly(right: str, draw: Random) -> str:
    return right if draw.random() > 0.15 else next(word for word in ANSWERS if word != right)


def answer_by_chance(_: str, draw: Random) -> str:
    return draw.choice(ANSWERS)


def answer_mostly_no(_: str, draw: Random) -> str:
    return "no" if draw.random() < 0.8 else "yes"


def make_constant_answerer(word: str) -> Answerer:
    return lambda _right, _draw: word


def answer_correctly(right: str, _: Random) -> str:
    return right


def count_answers_until_found(
    answerer: Answerer, draw: Random, *, most: int, gold: bool, yes: float = 1 / 3
) -> int | None:
    """Return after how many answers the annotator is excluded, or None.

    ``yes`` is the share of items whose right answer is yes.
    """
    kind = (AnswerReference.GOLD if gold else AnswerReference.PEERS).value
    evidence: dict[str, dict[str, Counter[str]]] = {kind: {word: Counter() for word in ANSWERS}}
    for number in range(1, most + 1):
        right = "yes" if draw.random() < yes else "no"
        evidence[kind][right][answerer(right, draw)] += 1
        if score(evidence, len(ANSWERS)) > LIMIT:
            return number
    return None


@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize(
    "answerer",
    [
        answer_by_chance,
        answer_mostly_no,
        make_constant_answerer("yes"),
        make_constant_answerer("no"),
    ],
)
def test_annotator_who_does_not_look_is_excluded(answerer: Answerer, gold: bool) -> None:
    answer_counts = [
        count_answers_until_found(answerer, Random(seed), most=150, gold=gold)
        for seed in range(100)
    ]
    assert sum(number is not None for number in answer_counts) >= 95


@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize("answerer", [answer_carefully, answer_carelessly])
def test_careful_and_careless_annotators_are_not_excluded(answerer: Answerer, gold: bool) -> None:
    answer_counts = [
        count_answers_until_found(answerer, Random(seed), most=120, gold=gold)
        for seed in range(400)
    ]
    assert sum(number is not None for number in answer_counts) <= 8  # two percent


@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize("yes", [0.0, 0.02, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("answerer", [answer_correctly, answer_carefully])
def test_careful_annotator_is_not_excluded_if_nearly_all_answers_are_equal(
    answerer: Answerer, yes: float, gold: bool
) -> None:
    answer_counts = [
        count_answers_until_found(answerer, Random(seed), most=300, gold=gold, yes=yes)
        for seed in range(50)
    ]
    assert sum(number is not None for number in answer_counts) <= 1


def test_item_without_annotations_scores_zero() -> None:
    assert score({}, 2) == 0


@pytest.mark.parametrize(
    ("answers", "own", "others"),
    [
        ({"yes": 2}, "yes", "yes"),
        ({"yes": 1}, "yes", None),
        ({"yes": 2, "no": 1}, "no", "yes"),
        ({"yes": 2, "no": 1}, "yes", None),
        ({"yes": 3, "no": 1}, "yes", "yes"),
    ],
)
def test_majority_of_other_annotators_is_the_reference(
    answers: dict[str, int], own: str, others: str | None
) -> None:
    assert others_agree_on(answers, own) == others


def test_right_answers_are_counted_by_reference() -> None:
    evidence = {"gold": {"yes": {"yes": 3, "no": 1}, "no": {"no": 2}}}
    assert count_right_answers(evidence, AnswerReference.GOLD) == (5, 6)
    assert count_right_answers(evidence, AnswerReference.PEERS) == (0, 0)


def test_gold_items_appear_at_the_configured_rate_and_irregularly() -> None:
    for seed in range(20):
        browser = Random(seed).getrandbits(128)
        places = [number for number in range(1, 2001) if is_gold(browser, number, 10)]
        assert 140 <= len(places) <= 260
        assert len({after - before for before, after in pairwise(places)}) > 5
