"""Trigger cycles: templates whose triggers would start each other forever.

Each template takes what the template before collects. The intake stops such chains, and people are
told why.
"""

from collections import deque
from collections.abc import Sequence

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.numbers import format_count
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.templates.matching import find_unmet_condition
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Template


def feeds(giver: Plan, taker: Plan) -> bool:
    """Return whether the outputs of ``giver`` are collected where ``taker`` takes slices.

    Groups are not considered.
    """
    if taker.trigger is None or not taker.takes_dataset:
        return False
    return any(
        find_unmet_condition(taker, {"name": output.collect.name, "type": output.collect.type})
        is None
        for output in giver.outputs
        if output.collect is not None
    )


def find_cycle(template: Template, templates: Sequence[Template]) -> list[Template]:
    """Return the shortest trigger cycle of a template, or an empty list.

    Args:
        template: The first and the last template of the cycle.
        templates: The latest versions of the enabled templates, with ``template``.
    """
    paths, visited = deque([[template]]), set[str]()
    while paths:
        path = paths.popleft()
        for other in templates:
            if not feeds(path[-1].plan, other.plan):
                continue
            if other.name == template.name:
                return [*path, other]
            if other.name not in visited:
                visited.add(other.name)
                paths.append([*path, other])
    return []


def describe_cycle(cycle: Sequence[Template], visibility: Visibility = ALL) -> str:
    """Return a cycle as text, as in ``la → lb → la``.

    Templates that ``visibility`` does not include are not named.
    """
    return " → ".join(
        each.name
        if visibility.sees(each.group, each.shared_with)
        else "a template of another group"
        for each in cycle
    )


def why_cycle(
    template: Template,
    dataset: AppendOnlyDataset,
    templates: Sequence[Template],
    *,
    max_generations: int,
    visibility: Visibility = ALL,
) -> str | None:
    """Return why the new files of a data set do not start a template, and what to do.

    Templates that are in no cycle are never stopped, because chains without end always go round a
    cycle. So a template goes on by itself after a person has broken its cycle.

    Args:
        template: The template.
        dataset: The append-only data set, with generations.
        templates: The latest versions of the enabled templates.
        max_generations: The highest generation of chains in a cycle.
        visibility: The templates that the text may name.

    Returns:
        The reason, or None if the template may start.
    """
    before = _generation(template, dataset)
    if before < max_generations or dataset.new_to(template.name) <= 0:
        return None
    cycle = find_cycle(template, templates)
    if not cycle:
        return None
    return (
        f"it does not start automatically: {format_count(before, 'chain')} have started on each"
        " other's outputs, because the templates form a trigger cycle:"
        f" {describe_cycle(cycle, visibility)}. Disable one of them (sluice template disable"
        f" {template.name}), or publish it so that it collects into another data set: the others"
        " then continue. It can be started manually on any data set (sluice chain start DATASET"
        f" {template.name}). If the cycle is intended, set SLUICE_INTAKE_GENERATIONS to more than"
        f" {max_generations}"
    )


def _generation(template: Template, dataset: AppendOnlyDataset) -> int:
    """Return the highest generation of the files that the template would get."""
    trigger, reader = template.plan.trigger, dataset.reader(template.name)
    takes_all = trigger is not None and trigger.every is not None and trigger.every.all
    return dataset.generation if reader is None or takes_all else reader.generation
