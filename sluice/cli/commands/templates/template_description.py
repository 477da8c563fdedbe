"""The description of a template by `sluice template show`."""

import json
from collections.abc import Iterator

from sluice.cli.commands.templates.template_trigger_description import accepted_dataset_lines
from sluice.cli.ownership import describe_ownership
from sluice.clientkit.local_times import local_time
from sluice.contracts.templates.chain_requirements import required
from sluice.contracts.templates.matching import condition_text
from sluice.contracts.templates.parameters import need
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import RUN_VERSION, Template
from sluice.text.visible_text import quoted


def description_lines(template: Template) -> Iterator[str]:
    """Yield the description of a template, line by line."""
    plan = template.plan
    if template.version == RUN_VERSION:
        yield (
            f"{template.name}, of a run, last run {local_time(template.created_at)}: nothing is"
            " matched with it"
        )
    else:
        yield (
            f"{template.name}, version {template.version}, stored {local_time(template.created_at)}"
        )
    if template.disabled_at:
        yield f"disabled since {local_time(template.disabled_at)}: nothing goes through it"
    if ownership := describe_ownership(template.owner, template.group, template.shared_with):
        yield ownership
    if plan.doc:
        yield plan.doc
    yield from _section("steps", [f"{step.name} ({step.in_words})" for step in plan.steps])
    yield from accepted_dataset_lines(plan)
    demands = [f"{name} {condition_text(condition)}" for name, condition in required(plan).items()]
    yield from _section("requires when a chain is made", demands)
    yield from _section(
        "parameters",
        [f"{key}: {_parameter(plan, key)}" for key in plan.parameters],
    )
    yield from _section("assets", [f"{key}: {ref}" for key, ref in plan.assets.items()])
    yield from _section("secrets", [f"{key}: {ref}" for key, ref in plan.secrets.items()])
    yield from _section("files", sorted(template.files or {}))
    yield from _section("warnings", [str(finding) for finding in template.warnings])


def _section(heading: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{heading}:"
        yield from (f"  {line}" for line in lines)


def _parameter(plan: Plan, name: str) -> str:
    parameter = plan.parameters[name]
    kind = parameter.type if isinstance(parameter.type, str) else json.dumps(parameter.type)
    default = "" if parameter.default is None else f" = {quoted(parameter.default)}"
    parts = [kind + ("" if parameter.required else default), _comes_from(plan, name), parameter.doc]
    return "  ".join(part for part in parts if part)


def _comes_from(plan: Plan, name: str) -> str:
    """Return what a parameter is bound to, and whether it is optional or has to be given."""
    if name in plan.assets:
        return f"({plan.assets[name]}, if no other is given)"
    needed = need(plan.parameters[name])
    if name not in plan.bind:
        return needed and f"({needed})"
    otherwise = "else " if plan.parameters[name].required else ""
    return f"(from metadata {quoted(plan.bind[name])}{needed and f', {otherwise}{needed}'})"
