"""What CWL allows and Sluice does not carry out over data sets yet, each with the way round it; and
what each step must have."""

from collections.abc import Mapping
from typing import Any

from sluice.contracts.states import InputMode, TaskMode
from sluice.cwl.checks.invocations import check_invocations
from sluice.cwl.checks.nested_scatters import warn_kept_together
from sluice.cwl.dataflow.data_input import check_first_input
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.merge_trees import check_trees
from sluice.cwl.dataflow.merging import pick_of
from sluice.cwl.dataflow.secondary_files import check_secondary_files
from sluice.cwl.dataflow.single_values import grouped_by
from sluice.cwl.documents.types import (
    PRIMITIVES,
    holds_files,
    is_optional,
    short_form,
    type_names,
    value_fits,
    without_null,
)
from sluice.cwl.documents.workflow import Link, Port, Step, Workflow
from sluice.cwl.features import INPUTS, SOURCES
from sluice.cwl.properties.extensions import Extensions
from sluice.cwl.reading.findings import START, Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import named_nodes, plain_json


def check_rules(
    workflow: Workflow, wiring: Wiring, extensions: Extensions, findings: Findings
) -> None:
    for port in workflow.inputs.values():
        _check_input(port, wiring, findings)
    for step in workflow.steps.values():
        for link in step.links.values():
            _check_link(step, link, findings, workflow=workflow, wiring=wiring)
        if step.passes is None:
            _check_features(step, workflow, findings)
        if step.has_tool:
            _check_ports(step, findings)
            _check_outputs(step, wiring.modes.get(step.name), findings)
    check_secondary_files(workflow, wiring, findings)
    _refuse_names_as_types(workflow, findings)
    _check_extensions(workflow, wiring, extensions, findings)
    check_invocations(workflow, extensions, findings)
    _check_shared_files(workflow, wiring, extensions, findings)
    check_trees(workflow, wiring, extensions, findings)
    _check_outputs_of_workflow(workflow, wiring, findings)
    _warn_unused(workflow, wiring, findings)
    warn_kept_together(workflow, wiring, findings)


def _refuse_names_as_types(workflow: Workflow, findings: Findings) -> None:
    """A type that is the name of an input or a step is a name to the schema, and so escapes its
    check."""
    names = {*workflow.inputs, *workflow.outputs, *workflow.steps}
    ports = [*workflow.inputs.values()]
    for step in workflow.steps.values():
        names |= {*step.links, *step.outputs, *step.tool_inputs, *step.tool_outputs}
        ports += [*step.tool_inputs.values(), *step.tool_outputs.values()]
    for port in ports:
        for name in type_names(port.type) & names - PRIMITIVES:
            findings.error(
                port.place_of("type"), f"there is no type '{name}'{did_you_mean(name, PRIMITIVES)}"
            )


def _check_input(port: Port, wiring: Wiring, findings: Findings) -> None:
    """Parameters are values, not files."""
    if port.name != wiring.data_input and "secondaryFiles" in port.body:
        findings.error(
            port.place_of("secondaryFiles"),
            f"secondaryFiles of the parameter '{port.name}' are not supported yet: "
            f"{INPUTS['secondaryFiles of a parameter'].note}",
        )
    if port.name == wiring.data_input:
        check_first_input(port, findings)
        if port.body.get("default") is not None:
            findings.error(
                port.place_of("default"),
                f"'{port.name}' is the data set, and data sets come from the catalogue: it has no"
                " default",
            )
    elif port.name in wiring.file_inputs:
        if port.body.get("default") is not None:
            findings.error(
                port.place_of("default"),
                f"'{port.name}' is a file, and files come from the catalogue, not by default:"
                f" {INPUTS['default of a file'].note}",
            )
    elif holds_files(port.type) and short_form(without_null(port.type)) != "File[]":
        findings.error(
            port.place_of("type"),
            f"the parameter '{port.name}' is of type {short_form(port.type)}, which is not supported:"
            f" {INPUTS['Directory'].note}",
        )
    _check_default(
        port.body.get("default"),
        port,
        findings,
        place=port.place_of("default"),
        what=f"parameter '{port.name}'",
    )


def _check_default(
    value: Any, port: Port, findings: Findings, *, place: TextPlace, what: str
) -> None:
    if value is not None and not value_fits(value, port.type):
        findings.error(
            place,
            f"the default of {what} must be of type {short_form(port.type)}, not {plain_json(value)!r}",
        )


def _check_values(link: Link, what: str, findings: Findings) -> None:
    """Values come from one parameter; joining and choosing is for data sets."""
    if link.sources is not None and len(link.sources) > 1:
        findings.error(
            link.source_place,
            f"{what} has several parameters as its sources: {SOURCES['several parameters'].note}",
        )
    for key in ("linkMerge", "pickValue"):
        if key in link.body:
            findings.error(
                text_place(link.body, key),
                f"'{key}' of {what} is not supported: it is for data sets, and this is a parameter",
            )


def _check_link(
    step: Step, link: Link, findings: Findings, *, workflow: Workflow, wiring: Wiring
) -> None:
    what = step.input_named(link.name)
    origin = wiring.origins.get((step.name, link.name))
    is_parameter = origin is not None and origin.step is None and origin.port != wiring.data_input
    if origin is not None and not wiring.is_data(step.name, link.name):
        _check_values(link, what, findings)
    if "default" not in link.body:
        return
    place = text_place(link.body, "default")
    if origin is not None and (not is_parameter or is_optional(workflow.inputs[origin.port].type)):
        findings.error(
            place, f"{what} has a source and a default: {SOURCES['default beside a source'].note}"
        )
    port = step.tool_inputs.get(link.name)
    if port is not None and "valueFrom" not in link.body:  # which makes the value of it
        _check_default(link.body["default"], port, findings, place=place, what=what)


def _check_features(step: Step, workflow: Workflow, findings: Findings) -> None:
    """CWL wants to be told by the workflow what its steps make use of."""
    values = [
        text_place(link.body, "valueFrom")
        for link in step.links.values()
        if "valueFrom" in link.body
    ]
    nested = [step.place_of("run")] if step.tool.get("class") == "Workflow" else []
    several = [
        link.source_place
        for link in step.links.values()
        if link.sources is not None and len(link.sources) > 1
    ]
    used = {
        "MultipleInputFeatureRequirement": ("has an input with several sources", several),
        "ScatterFeatureRequirement": (
            "scatters",
            [step.place_of("scatter")] if step.scatter else [],
        ),
        "StepInputExpressionRequirement": ("has a 'valueFrom'", values),
        "SubworkflowFeatureRequirement": ("runs a workflow", nested),
    }
    said = {
        entry.name
        for owner in (workflow.body, step.body)
        for kind in ("requirements", "hints")
        for entry in named_nodes(owner.get(kind), "class")
    }
    for feature, (what, places) in used.items():
        for place in places if feature not in said else []:
            findings.error(
                place,
                f"step '{step.name}' {what}: add 'requirements: {{{feature}: {{}}}}' to the"
                " workflow",
            )


def _check_ports(step: Step, findings: Findings) -> None:
    """Every input of the step is one of the tool's, and the tool gets what it needs."""
    for link in step.links.values():
        if link.name not in step.tool_inputs and not step.contained:
            hint = did_you_mean(link.name, step.tool_inputs)
            findings.error(
                link.place, f"the tool of step '{step.name}' has no input '{link.name}'{hint}"
            )
    for port in step.tool_inputs.values():
        fed = step.links.get(port.name)
        given = fed is not None and (
            fed.sources is not None or "default" in fed.body or "valueFrom" in fed.body
        )
        if not given and not is_optional(port.type) and "default" not in port.body:
            findings.error(
                fed.place if fed else step.place_of("in"),
                f"step '{step.name}' gives no value for '{port.name}', which its tool needs",
            )
        _check_default(
            port.body.get("default"),
            port,
            findings,
            place=port.place_of("default"),
            what=f"'{port.name}'",
        )


def _check_outputs(step: Step, mode: TaskMode | None, findings: Findings) -> None:
    """What the step hands on is one value a job, or (map) one or none."""
    if not step.outputs:
        findings.error(
            step.place_of("out"),
            f"step '{step.name}' gives nothing on: name at least one output of its tool in 'out'",
        )
    for name, place in step.outputs.items():
        port = step.tool_outputs.get(name)
        if port is None:
            findings.error(
                place,
                f"the tool of step '{step.name}' has no output"
                f" '{name}'{did_you_mean(name, step.tool_outputs)}",
            )
        elif mode is TaskMode.MERGE and is_optional(port.type):
            what, kind = (
                f"output '{name}' of the tool of step '{step.name}'",
                short_form(without_null(port.type)),
            )
            findings.error(
                port.place_of("type"),
                f"{what} is {short_form(port.type)}; a merge must write what it gives: make it {kind}",
            )


def _check_extensions(
    workflow: Workflow, wiring: Wiring, extensions: Extensions, findings: Findings
) -> None:
    parameters = [
        name
        for name in workflow.inputs
        if name != wiring.data_input and name not in wiring.file_inputs
    ]
    for name in extensions.workflow.values.get("bind", {}):
        place = extensions.workflow.inner.get(("bind", name), START)
        if name == wiring.data_input:
            findings.error(
                place, f"'{name}' is the data set; metadata can only be bound to parameters"
            )
        elif name in wiring.file_inputs:
            findings.error(
                place,
                f"'{name}' is a file; metadata can only be bound to parameters that are values",
            )
        elif name not in parameters:
            findings.error(
                place, f"there is no parameter '{name}' to bind{did_you_mean(name, parameters)}"
            )
    required = extensions.workflow.values.get("require")
    for name in required.parameters if required is not None else ():
        if name not in parameters:
            place = extensions.workflow.inner.get(("require", f"parameters.{name}"), START)
            findings.error(
                place,
                f"there is no parameter '{name}' that is a value{did_you_mean(name, parameters)}",
            )
    for step, fields in extensions.steps.items():
        found = workflow.steps.get(step)
        if (
            found
            and not found.scatter
            and any(findings.has_error_at(link.source_place) for link in found.links.values())
        ):
            continue  # what comes in is another thing than what was meant
        if "batch" in fields.values and found and not found.scatter:
            findings.error(
                fields.places["batch"],
                f"step '{step}' does not scatter; batches are for steps that run their tool on each"
                " file",
            )
        if "merge" in fields.values and wiring.modes.get(step) is TaskMode.MAP:
            findings.error(
                fields.places["merge"],
                f"step '{step}' runs its tool on each file; groups are for steps that take a"
                " File[]",
            )


def _check_shared_files(
    workflow: Workflow, wiring: Wiring, extensions: Extensions, findings: Findings
) -> None:
    """What every job gets, and a list that is scattered over, must be the only one: groups of a
    merge write several."""

    for (name, port), origin in wiring.origins.items():
        stream = wiring.streams.get(origin)
        is_list = stream is not None and stream.spread and port in workflow.steps[name].scatter
        writer = grouped_by(origin.step, workflow, wiring, extensions) if is_list else None
        place = workflow.steps[name].links[port].source_place
        if writer is not None and not findings.has_error_at(place):
            findings.error(
                place,
                f"step '{name}' scatters over the list that '{origin.step}' gives, and there is one"
                f" for each group of step '{writer}': leave 'sluice:merge' of '{writer}' out",
            )
    for name, sides in wiring.side_links.items():
        for side in sides:
            single = side.mode is InputMode.ONE and pick_of(side.link) is None
            source = wiring.origins[name, side.link.name].step
            writer = grouped_by(source, workflow, wiring, extensions) if single else None
            if writer is not None:
                findings.error(
                    side.link.source_place,
                    f"every job of step '{name}' takes one file at '{side.link.name}', and step"
                    f" '{writer}' writes one for each group: leave 'sluice:merge' of"
                    f" '{writer}' out",
                )


def _check_outputs_of_workflow(workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    if not workflow.outputs:
        findings.error(
            text_place(workflow.body, "outputs"),
            "the workflow has no outputs: name what is to be kept",
        )
    first: dict[Any, str] = {}
    for name, origin in wiring.outputs.items():
        if origin in first:
            place = workflow.outputs[name].source_place
            findings.error(
                place,
                f"outputs '{first[origin]}' and '{name}' are the same data set"
                f" ({origin.step}/{origin.port}): give it one name",
            )
        first.setdefault(origin, name)


def _warn_unused(workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """Legal, and most often a mistake."""
    sources = [origin for _, _, origin in wiring.all_sources()]
    used = {origin.port for origin in sources if origin.step is None}
    for port in workflow.inputs.values():
        if port.name not in used and port.name != wiring.data_input:
            findings.warning(port.place, f"the parameter '{port.name}' is never used")
    taken = {(origin.step, origin.port) for origin in [*sources, *wiring.outputs.values()]}
    for step in workflow.steps.values():
        for name, place in step.outputs.items():
            if (step.name, name) not in taken:
                findings.warning(
                    place,
                    f"output '{name}' of step '{step.name}' is never used: its files are written"
                    " and deleted",
                )
    for step in workflow.steps.values():
        for port in step.tool_inputs.values():
            _warn_slow_binding(step, port, findings)


def _warn_slow_binding(step: Step, port: Port, findings: Findings) -> None:
    binding = port.body.get("inputBinding")
    if (
        isinstance(binding, Mapping)
        and holds_files(port.type)
        and short_form(without_null(port.type)) == "File[]"
    ):
        findings.warning(
            port.place_of("inputBinding"),
            f"'{port.name}' of step '{step.name}' is a File[] with an inputBinding, which takes"
            f" minutes for thousands of files: write 'arguments: [$(inputs.{port.name})]' instead",
        )
