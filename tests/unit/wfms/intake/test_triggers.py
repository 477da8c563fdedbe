"""Triggers of templates, and the append-only data sets that belong to them."""

from datetime import timedelta
from uuid import UUID

import pytest

from sluice.contracts.data.append_only import GrowthTrigger, SliceOf, Trigger
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.matching import describe_trigger, find_rejection_reason
from sluice.contracts.templates.templates import Template
from tests.unit.wfms.chains.plans import make_plan, make_step
from tests.unit.wfms.intake.append_only_datasets import START, make_corpus, make_dataset
from wfms.intake.domain.matching import Match, NoMatch, decide
from wfms.intake.domain.triggers import (
    describe_outcome,
    is_triggered,
    select_datasets,
    select_triggered_templates,
)

PAGES = {"type": Equals(value="pages")}
GROWN = Trigger(every=GrowthTrigger(files=10))


def make_template(name: str = "t", trigger: Trigger | None = GROWN, **more: object) -> Template:
    match = more.pop("match", PAGES)
    template_plan = make_plan(
        make_step("only"), outputs=[("only", "out")], match=match, trigger=trigger
    )
    return Template.model_validate(
        {
            "id": UUID(int=3),
            "name": name,
            "version": 1,
            "created_at": START,
            "plan": template_plan,
            **more,
        }
    )


@pytest.mark.parametrize(
    ("every", "used", "hours", "is_met"),
    [
        (GrowthTrigger(files=12), 0, 0, True),
        (GrowthTrigger(files=13), 0, 1000, False),
        (GrowthTrigger(files=2), 10, 0, True),
        (GrowthTrigger(files=3), 10, 1000, False),
        (GrowthTrigger(hours=24), 10, 23.9, False),
        (GrowthTrigger(hours=24), 10, 24, True),
        (GrowthTrigger(hours=24), 12, 1000, False),
        (GrowthTrigger(files=3, hours=24), 10, 24, True),
        (GrowthTrigger(files=2, hours=24), 10, 0, True),
        (GrowthTrigger(hours=0.5), 0, 0.5, True),
    ],
)
def test_trigger_fires_after_enough_new_files_or_hours(
    every: GrowthTrigger, used: int, hours: float, *, is_met: bool
) -> None:
    last = START + timedelta(days=9)
    one = make_corpus(("t", used, last)) if used else make_corpus(("other", 12, last))
    since = last if used else START
    assert is_triggered(every, one, template="t", now=since + timedelta(hours=hours)) is is_met


def test_template_gets_append_only_data_sets_that_match_and_that_it_sees() -> None:
    matching, others = make_corpus(group="ocr"), make_corpus(group="spd")
    shared, words = (
        make_corpus(group="spd", shared_with=["ocr"]),
        make_corpus(meta={"type": "words"}),
    )
    everyones = [matching, others, shared, words]
    assert select_datasets(make_template(group="ocr"), everyones) == [matching, shared]
    assert select_datasets(make_template(), everyones) == [matching, others, shared]
    named = make_template(match={"name": Equals(value="corpus")})
    assert select_datasets(named, [make_corpus(name="corpus-2")]) != [], (
        "the name condition compares with the name that chains use"
    )


def test_only_the_latest_version_of_a_template_is_triggered() -> None:
    old, new = make_template(), make_template(trigger=None, version=2)
    assert select_triggered_templates([old, new]) == []
    assert select_triggered_templates([old, make_template("u", trigger=None)]) == [old]


def test_slice_goes_only_to_the_template_it_was_cut_for() -> None:
    parent = SliceOf(append_only=UUID(int=1), name="corpus", reader="t", number=3)
    decided = decide(
        make_dataset(parent=parent),
        [make_template("a", trigger=None), make_template(), make_template("z")],
    )
    assert isinstance(decided, Match)
    assert (decided.template.name, decided.tied_templates) == ("t", ())
    decision = decide(
        make_dataset(parent=parent), [make_template("a", trigger=None), make_template("z")]
    )
    assert isinstance(decision, NoMatch)
    assert "is not the template t, for which the slice was cut" in decision.reason
    ordinary = decide(make_dataset(), [make_template()])
    assert isinstance(ordinary, NoMatch)
    reason = "takes new files of append-only data sets, and runs when 10 files are new"
    assert reason in ordinary.reason


def test_slice_matches_as_its_append_only_data_set_does() -> None:
    parent = SliceOf(append_only=UUID(int=1), name="corpus", reader="t", number=3)
    assert (
        find_rejection_reason(
            make_dataset(parent=parent, name="x"), make_template().plan, template="t"
        )
        is None
    )
    by_name = make_template(match={"name": Equals(value="corpus")})
    assert (
        find_rejection_reason(make_dataset(parent=parent, name="x"), by_name.plan, template="t")
        is None
    )
    other = make_template(match={"type": Equals(value="words")})
    assert "wants type" in (
        find_rejection_reason(make_dataset(parent=parent), other.plan, template="t") or ""
    )


@pytest.mark.parametrize(
    ("trigger", "text"),
    [
        (Trigger(every=GrowthTrigger(files=1)), "when 1 file is new"),
        (Trigger(every=GrowthTrigger(hours=1)), "when 1 hour has gone"),
        (
            Trigger(every=GrowthTrigger(files=1000, hours=24, all=True)),
            "when 1000 files are new, or 24 hours have gone, and all of it",
        ),
        (Trigger(schedule="0 3 * * *", zone="Europe/Warsaw"), "at 0 3 * * * (Europe/Warsaw)"),
    ],
)
def test_trigger_is_described_in_words(trigger: Trigger, text: str) -> None:
    assert describe_trigger(trigger) == text


def test_outcome_of_a_scheduled_time_is_described() -> None:
    assert describe_outcome([]) == "nothing was new"
    assert describe_outcome([make_corpus(), make_corpus(name="b")]) == "2 slices of corpus, b"
