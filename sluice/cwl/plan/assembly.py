"""Assembly of the plan from its parts, which have been checked."""

from collections.abc import Mapping, Sequence
from typing import Any

from sluice.contracts.common.states import EntryKind
from sluice.contracts.data.append_only import Collect
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.plan import (
    DataEntries,
    Parameter,
    Plan,
    PlanOutput,
    PlanStep,
    Retention,
)
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.numbering import Numbering
from sluice.cwl.dataflow.secondary_files import data_entries
from sluice.cwl.dataflow.streams import EntryStream
from sluice.cwl.documents.types import is_optional, without_null
from sluice.cwl.documents.workflow import Port, SourcePort
from sluice.cwl.plan.documentation import documentation
from sluice.cwl.plan.steps import StepPlanner
from sluice.cwl.plan.tools import ToolWriter
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.match_fields import Match
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.nodes import plain_json

#: Extension fields that are fields of the plan with the same name.
_FIELDS = tuple(
    name for name in FIELDS if name in Plan.model_fields and name not in ("bind", "match")
)


def assemble_plan(
    template: ParsedTemplate, flow: Dataflow, needs: Mapping[str, Needs], *, name: str
) -> Plan:
    """Return the plan of a checked template."""
    workflow, wiring = flow.workflow, flow.wiring
    fields, data_input = flow.extensions.workflow.values, wiring.data_input
    numbering = Numbering(workflow, wiring)
    match = fields.get("match", Match())
    planner = StepPlanner(flow, needs, numbering, ToolWriter(template, wiring))
    return Plan(
        name=name,
        doc=documentation(workflow.body),
        cwl_version=template.document.version,
        data_input=data_input or "",
        data_entries=(
            DataEntries() if data_input is None else data_entries(workflow.inputs[data_input])
        ),
        parameters={
            port.name: _parameter(port, wiring)
            for port in workflow.inputs.values()
            if port.name != data_input and port.name not in flow.secrets
        },
        steps=_in_order([planner.plan_step(step) for step in workflow.steps.values()]),
        outputs=[
            _output(output, origin, wiring.streams[origin], flow.append_target(output))
            for output, origin in wiring.outputs.items()
        ],
        match=match.conditions,
        trigger=match.trigger,
        **_fields(fields, data_input),
        bind={
            name: key
            for name, key in fields.get("bind", {}).items()
            if name not in flow.secrets and name not in flow.assets
        },
        secrets=flow.secrets,
        assets=flow.assets,
    )


def _fields(values: Mapping[str, Any], data_input: str | None) -> dict[str, Any]:
    """Return the extension fields of the plan.

    Without a data set, a placeholder without files takes its place and is kept for reruns.
    """
    fields = {key: values[key] for key in _FIELDS if key in values}
    if data_input is None:
        logs = fields.get("retention", Retention()).logs
        fields["retention"] = Retention(input="keep", logs=logs)
    return fields


def _in_order(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Return the steps in the order of the dataflow, and else in the order of the text."""
    remaining, ordered = list(steps), list[PlanStep]()
    while remaining:
        remaining_names = {step.name for step in remaining}
        ready = next(
            step
            for step in remaining
            if not any(source.step in remaining_names for source in step.sources)
        )
        remaining.remove(ready)
        ordered.append(ready)
    return ordered


def _output(
    name: str, origin: SourcePort, stream: EntryStream, collect: Collect | None
) -> PlanOutput:
    return PlanOutput(
        name=name,
        step=origin.step or "",
        port=origin.port,
        kind=stream.kind,
        single=not stream.many,
        collect=collect,
    )


def _parameter(port: Port, wiring: Wiring) -> Parameter:
    """Return a parameter of the plan. Default files are arguments of the steps instead."""
    default = plain_json(port.body.get("default"))
    is_bundle, is_bundle_list = (
        port.name in names for names in (wiring.bundle_inputs, wiring.bundle_lists)
    )
    is_data = port.name in wiring.data_inputs - wiring.asset_inputs
    has_bundles = is_bundle or is_bundle_list
    entries = data_entries(port, is_bundle=has_bundles) if is_data else DataEntries()
    return Parameter(
        type=plain_json(without_null(port.type)),
        default=None if is_data and not is_bundle else default,
        required=default is None and not is_optional(port.type),
        doc=documentation(port.body),
        entries=entries if entries.kind is EntryKind.BUNDLE else None,
        entry_per_item=is_bundle_list,
    )
