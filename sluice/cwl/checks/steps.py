"""Checks of steps: each tool gets the inputs that it needs, and each output exists."""

from dataclasses import replace

from sluice.contracts.templates.secondary_files import read_patterns
from sluice.cwl.checks.inputs import find_default_problem
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.file_defaults import default_files
from sluice.cwl.documents.types import (
    array_of,
    contains_files,
    is_optional,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Link, Step, Workflow
from sluice.cwl.features import SOURCES
from sluice.cwl.reading.findings import Findings, suggest_or_list, text_place
from sluice.cwl.reading.nodes import named_nodes
from sluice.text.visible_text import quoted

_DEFAULT_ADVICE = SOURCES["default beside a source that is scattered over"].note
#: Requirements that cwltool looks for only during a run.
_CHECKED_DURING_RUNS = ("MultipleInputFeatureRequirement", "StepInputExpressionRequirement")


def check_link(step: Step, link: Link, flow: Dataflow, findings: Findings) -> None:
    """Report values, sources and defaults of a step input that do not go together."""
    wiring, subject = flow.wiring, step.describe_input(link.name)
    origin = wiring.origins.get((step.name, link.name))
    if origin is not None and not wiring.is_data(step.name, link.name):
        _refuse_merged_parameters(link, subject, findings)
    if len(wiring.sources(step.name, link.name)) > 1 and default_files(
        step, link.name, flow.workflow, wiring
    ):
        findings.error(
            link.source_place,
            f"{subject} joins several sources, one of which is a parameter with a file as its"
            " default: leave the default out, or let a step read it first",
        )
    if "default" not in link.body:
        return
    place = text_place(link.body, "default")
    is_parameter = origin is not None and origin.step is None and origin.port != wiring.data_input
    if origin is not None and (
        not is_parameter or is_optional(flow.workflow.inputs[origin.port].type)
    ):
        findings.error(
            place,
            f"{subject}, which is scattered over, has a source and a default: {_DEFAULT_ADVICE}",
        )
    port = step.tool_inputs.get(link.name)
    # 'valueFrom' computes the value from the default.
    if port is not None and "valueFrom" not in link.body:
        is_scattered = link.name in step.scatter
        if is_scattered:
            port = replace(port, type=array_of(port.type))
        if problem := find_default_problem(port, link.body["default"]):
            report = findings.error if is_scattered else findings.warning
            report(place, f"the default of {subject} {problem}")


def _refuse_merged_parameters(link: Link, subject: str, findings: Findings) -> None:
    """Report several sources, 'linkMerge' and 'pickValue' on parameters that are scattered over."""
    if link.sources is not None and len(link.sources) > 1:
        findings.error(
            link.source_place,
            f"{subject} scatters over several parameters:"
            f" {SOURCES['several parameters that are scattered over'].note}",
        )
    for key in ("linkMerge", "pickValue"):
        if key in link.body:
            findings.error(
                text_place(link.body, key),
                f"{quoted(key)} of {subject}, which is scattered over, is for data sets, and this"
                " is a parameter",
            )


def check_required_features(step: Step, workflow: Workflow, findings: Findings) -> None:
    """Report features that a step uses and that the workflow does not require.

    cwltool looks for some of them only during a run. These give warnings.
    """
    value_expressions = [
        text_place(link.body, "valueFrom")
        for link in step.links.values()
        if "valueFrom" in link.body
    ]
    nested = [step.field_place("run")] if step.tool.get("class") == "Workflow" else []
    merged_links = [
        link.source_place
        for link in step.links.values()
        if link.sources is not None and len(link.sources) > 1
    ]
    features = {
        "MultipleInputFeatureRequirement": ("has an input with several sources", merged_links),
        "ScatterFeatureRequirement": (
            "scatters",
            [step.field_place("scatter")] if step.scatter else [],
        ),
        "StepInputExpressionRequirement": ("has a 'valueFrom'", value_expressions),
        "SubworkflowFeatureRequirement": ("runs a workflow", nested),
    }
    declared = {
        entry.name
        for owner in (workflow.body, step.body)
        for kind in ("requirements", "hints")
        for entry in named_nodes(owner.get(kind), "class")
    }
    for feature, (use, places) in features.items():
        report = findings.warning if feature in _CHECKED_DURING_RUNS else findings.error
        for place in places if feature not in declared else []:
            report(
                place,
                f"step {quoted(step.name)} {use}: add 'requirements: {{{feature}: {{}}}}' to the"
                " workflow",
            )


def check_ports(step: Step, findings: Findings) -> None:
    """Report links to unknown inputs of the tool, and inputs of the tool without a value."""
    for link in step.links.values():
        if link.name not in step.tool_inputs and not step.runs_as_workflow:
            hint = suggest_or_list(link.name, step.tool_inputs)
            findings.error(
                link.place,
                f"the tool of step {quoted(step.name)} has no input {quoted(link.name)}{hint}",
            )
    for port in step.tool_inputs.values():
        port_link = step.links.get(port.name)
        has_value = port_link is not None and (
            port_link.sources is not None
            or "default" in port_link.body
            or "valueFrom" in port_link.body
        )
        if not has_value and not is_optional(port.type) and "default" not in port.body:
            findings.error(
                port_link.place if port_link else step.field_place("in"),
                f"step {quoted(step.name)} gives no value for {quoted(port.name)}, which its tool"
                " needs",
            )
        # cwltool refuses it only when it is used.
        if problem := find_default_problem(port, port.body.get("default")):
            findings.warning(
                port.field_place("default"), f"the default of {quoted(port.name)} {problem}"
            )


def check_outputs(step: Step, findings: Findings, *, in_tree: bool) -> None:
    """Report unknown outputs, and optional outputs of merges in a tree."""
    for name, place in step.outputs.items():
        port = step.tool_outputs.get(name)
        if port is None:
            findings.error(
                place,
                f"the tool of step {quoted(step.name)} has no output"
                f" {quoted(name)}{suggest_or_list(name, step.tool_outputs)}",
            )
        elif in_tree and is_optional(port.type):
            findings.error(
                port.field_place("type"),
                f"output {quoted(name)} of the tool of step {quoted(step.name)} is"
                f" {short_form(port.type)}; each merge of a tree must write what the next"
                f" one reads: make it {short_form(without_null(port.type))}",
            )


def check_secondary_files(flow: Dataflow, findings: Findings) -> None:
    """Report required ``secondaryFiles`` that the source of the file does not declare.

    Within a workflow a file has only the secondary files that the step that writes it declares.
    """
    for (name, port), origin in flow.wiring.origins.items():
        step = flow.workflow.steps[name]
        sink, stream = step.tool_inputs.get(port), flow.wiring.streams.get(origin)
        if (
            sink is None
            or stream is None
            or stream.secondary
            or "valueFrom" in step.links[port].body
        ):
            continue
        required_patterns = [
            pattern.pattern
            for pattern in read_patterns(sink.body.get("secondaryFiles"))
            if pattern is not None and pattern.required
        ]
        if required_patterns and contains_files(sink.type):
            source = (step.links[port].sources or ["?"])[0]
            findings.error(
                sink.field_place("secondaryFiles"),
                f"{quoted(port)} of step {quoted(name)} needs secondaryFiles"
                f" ({', '.join(required_patterns)}), and {quoted(source)} does not say that it has"
                " any: write 'secondaryFiles' there, too",
            )
