"""Templates that form a ring: each is due by what the one before collects, so that they begin one
another without end. The intake stops them by it, and who looks on is told by it."""

from collections import deque
from collections.abc import Sequence

from sluice.contracts.append_only_list import AppendOnlyDataset
from sluice.contracts.matching import objection
from sluice.contracts.numbers import counted
from sluice.contracts.owners import ALL, Visibility
from sluice.contracts.plan import Plan
from sluice.contracts.templates import Template


def feeds(giver: Plan, taker: Plan) -> bool:
    """Is the taker given slices of what the giver's outputs are collected in, were its group to
    see it?"""
    if taker.due is None or not taker.takes_dataset:
        return False
    return any(
        objection(taker, {"name": output.collect.name, "type": output.collect.type}) is None
        for output in giver.outputs
        if output.collect is not None
    )


def cycle_of(template: Template, templates: Sequence[Template]) -> list[Template]:
    """The shortest way from it back to itself, which is its first and its last; empty: there is
    none. ``templates``: the latest versions of those that are enabled, itself as well."""
    ways, seen = deque([[template]]), set[str]()
    while ways:
        way = ways.popleft()
        for other in templates:
            if not feeds(way[-1].plan, other.plan):
                continue
            if other.name == template.name:
                return [*way, other]
            if other.name not in seen:
                seen.add(other.name)
                ways.append([*way, other])
    return []


def cycle_text(ring: Sequence[Template], visibility: Visibility = ALL) -> str:
    """``la → lb → la``, as far as whoever asks sees them."""
    return " → ".join(
        each.name
        if visibility.sees(each.group, each.shared_with)
        else "a template of another group"
        for each in ring
    )


def why_cycle(
    template: Template,
    one: AppendOnlyDataset,
    templates: Sequence[Template],
    *,
    most: int,
    visibility: Visibility = ALL,
) -> str | None:
    """Why it does not begin by itself on what is new, and what to do; None: it may. ``one``: which
    it takes, with the generations; ``most``: the highest generation that chains of a ring may have.

    Who is in no ring is not held, whatever it is given: what goes round for ever goes round in one.
    So it goes on by itself when a person has broken the ring.
    """
    before = _generation(template, one)
    if before < most or one.new_to(template.name) <= 0:
        return None
    ring = cycle_of(template, templates)
    if not ring:
        return None
    return (
        f"it does not begin by itself: {counted(before, 'chain')} have begun so, each on what the"
        f" one before gave, and templates form a ring: {cycle_text(ring, visibility)}."
        f" Disable one of them (sluice template disable {template.name}), or publish it so that it"
        " collects elsewhere: the others then go on. By hand it can be started on any data set"
        f" (sluice chain start DATASET {template.name}). Where the ring is meant, let"
        f" SLUICE_INTAKE_GENERATIONS be more than {most}"
    )


def _generation(template: Template, one: AppendOnlyDataset) -> int:
    """Of the files that it would be given."""
    due, reader = template.plan.due, one.reader(template.name)
    takes_all = due is not None and due.every is not None and due.every.all
    return one.generation if reader is None or takes_all else reader.generation
