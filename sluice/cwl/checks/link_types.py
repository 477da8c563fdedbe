"""Check of the types at both ends of each link, and of missing values."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.merging import merged_type
from sluice.cwl.dataflow.single_values import may_be_missing
from sluice.cwl.dataflow.streams import EntryStream
from sluice.cwl.documents.types import (
    array_of,
    contains_files,
    fit,
    is_optional,
    normal_type,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Link, Port, SourcePort, Step, Workflow
from sluice.cwl.reading.findings import Findings, TextPlace
from sluice.text.visible_text import quoted

_Report = Callable[[TextPlace, str], None]


def check_link_types(flow: Dataflow, findings: Findings, *, may_omit_nulls: bool) -> None:
    """Report each link whose source does not fit its target.

    Data sets have no nulls. If a step takes nulls among the entries of a data set, this is an
    error, or a warning if ``may_omit_nulls``.
    """
    report_nulls = findings.warning if may_omit_nulls else findings.error
    for step, port in flow.wiring.origins:
        _check_input(flow.workflow.steps[step], port, flow, findings, report_nulls=report_nulls)
    for name, origin in flow.wiring.outputs.items():
        _check_output(name, origin, flow, findings)


def _check_input(
    step: Step, port: str, flow: Dataflow, findings: Findings, *, report_nulls: _Report
) -> None:
    link, sink = step.links[port], step.tool_inputs.get(port)
    stream, source_type = flow.wiring.find_stream(step.name, port), find_link_type(step, link, flow)
    if source_type is None or (step.name, port) in flow.wiring.refused_inputs:
        return
    end = _LinkEnd(
        link,
        step.describe_input(port),
        source_type,
        _MissingValues.from_stream(source_type, stream),
    )
    if len(step.scatter) > 1 and port in step.scatter and end.missing is _MissingValues.OMITTED:
        end = replace(end, missing=_missing_values_of_pair(step, flow))
    if sink is None or "valueFrom" in link.body:
        _report_omitted_nulls(end, report_nulls)
        return
    target_type = array_of(sink.type) if port in step.scatter else sink.type
    is_defaulted = (
        stream is None and port not in step.scatter and sink.body.get("default") is not None
    )
    if is_defaulted or (end.missing is _MissingValues.ONLY and may_be_missing(step, link)):
        target_type = normal_type(["null", target_type])
    advice = _link_advice(step, link, source_type, sink.type)
    _report_misfit(end, findings, target_type=target_type, advice=advice, report_nulls=report_nulls)


def _check_output(name: str, origin: SourcePort, flow: Dataflow, findings: Findings) -> None:
    link = flow.workflow.outputs[name]
    source_type = merged_type(link, [_source_type(origin, flow.workflow)])
    if source_type is not None:
        missing = _MissingValues.from_stream(source_type, flow.wiring.streams.get(origin))
        end = _LinkEnd(
            link,
            f"output {quoted(name)}",
            source_type,
            missing,
            "the value may be missing: let the output be ",
        )
        target_type = flow.workflow.output_types[name]
        _report_misfit(
            end,
            findings,
            target_type=target_type,
            advice=_output_advice(source_type, target_type),
            report_nulls=findings.warning,
        )


def _output_type(step: Step, port: str) -> Any:
    """Return the type of a step output outside the step, or None if it does not exist."""
    output: Port | None = step.tool_outputs.get(port)
    if output is None:
        return None
    outside_type = normal_type(["null", output.type]) if step.conditional else output.type
    return array_of(outside_type, step.depth)


class _MissingValues(Enum):
    """The treatment of missing values."""

    #: No value may be missing, or the link brings no data.
    NEVER = auto()
    #: There is one value, or none.
    ONLY = auto()
    #: Missing values are left out of the list.
    OMITTED = auto()
    #: At least one of the values with the same number exists.
    ONE_OF_PAIR = auto()
    #: All values with the same number may be missing.
    ALL_OF_PAIR = auto()

    @classmethod
    def from_stream(cls, source_type: Any, stream: EntryStream | None) -> "_MissingValues":
        """Return what happens to missing values of a type that a stream carries."""
        if stream is None or not may_have_nulls(source_type):
            return cls.NEVER
        return cls.OMITTED if stream.many else cls.ONLY


@dataclass(frozen=True, slots=True)
class _LinkEnd:
    """The data that a link brings to its target.

    Attributes:
        link: The link.
        subject: The target in words.
        source_type: The type of the source.
        missing: The treatment of missing values.
        missing_warning: The warning if the only value may be missing.
    """

    link: Link
    subject: str
    source_type: Any
    missing: _MissingValues
    missing_warning: str = (
        "the step fails if the value is missing; if the tool can do without it, let it take "
    )

    @property
    def source(self) -> str:
        """The sources of the link in words."""
        sources = [quoted(source) for source in self.link.sources or ["?"]]
        return f"{', '.join(sources)} {'is' if len(sources) == 1 else 'are'}"


def _source_type(origin: SourcePort, workflow: Workflow) -> Any:
    if origin.step is not None:
        return _output_type(workflow.steps[origin.step], origin.port)
    port = workflow.inputs[origin.port]
    return without_null(port.type) if port.body.get("default") is not None else port.type


def may_have_nulls(kind: Any) -> bool:
    """Return whether the type, or the type of its items, is optional."""
    return is_optional(kind) or (
        isinstance(kind, dict) and kind.get("type") == "array" and is_optional(kind["items"])
    )


def find_link_type(step: Step, link: Link, flow: Dataflow) -> Any:
    """Return the type that a link brings, or None if it is unknown."""
    sources = flow.wiring.sources(step.name, link.name)
    return merged_type(link, [_source_type(origin, flow.workflow) for origin in sources])


def _missing_values_of_pair(step: Step, flow: Dataflow) -> _MissingValues:
    """Return what happens to missing values of the inputs that the step scatters over together."""
    source_types = [
        find_link_type(step, step.links[name], flow) for name in step.scatter if name in step.links
    ]
    return (
        _MissingValues.ALL_OF_PAIR
        if all(map(may_have_nulls, source_types))
        else _MissingValues.ONE_OF_PAIR
    )


def _link_advice(step: Step, link: Link, source_type: Any, port_type: Any) -> str:
    """Return a hint how to make a data link fit, or an empty text."""
    if not step.scatter and fit(source_type, array_of(port_type)) != "does not fit":
        return (
            f": add 'scatter: {link.name}' to run the tool on each"
            f" {'file' if contains_files(source_type) else 'value'}"
        )
    if step.scatter and fit(source_type, port_type) != "does not fit":
        return f": leave 'scatter: {link.name}' out"
    return ""


def _output_advice(source_type: Any, target_type: Any) -> str:
    """Return a hint for a workflow output that is declared as a list of the step's type."""
    if fit(array_of(source_type), target_type) == "does not fit":
        return ""
    return (
        f": let the output be {short_form(source_type)}; a step that merges in groups gives one for"
        " each"
    )


def _report_misfit(
    end: _LinkEnd, findings: Findings, *, target_type: Any, advice: str, report_nulls: _Report
) -> None:
    place = end.link.source_place
    types = (
        f"{end.subject} takes {short_form(target_type)}, and {end.source}"
        f" {short_form(end.source_type)}"
    )
    match fit(end.source_type, target_type):
        case "does not fit":
            findings.error(place, f"{types}{advice}")
        case "may not fit":
            missing = "files not written" if contains_files(end.source_type) else "values not given"
            notes = {
                _MissingValues.NEVER: "a job fails where the value does not fit",
                _MissingValues.ONLY: end.missing_warning
                + short_form(normal_type(["null", target_type])),
                _MissingValues.OMITTED: (
                    f"{missing} are left out here; for other runners add 'pickValue: all_non_null'"
                ),
            }
            pair_note = (
                "there is no job here for a number where it is missing, and other runners fail"
                " there"
            )
            findings.warning(place, f"{types}: {notes.get(end.missing, pair_note)}")
        case "fits":
            _report_omitted_nulls(end, report_nulls)


def _report_omitted_nulls(end: _LinkEnd, report: _Report) -> None:
    """Report values that data sets leave out, where other runners have nulls."""
    if end.missing is _MissingValues.OMITTED:
        note = (
            "a data set has no nulls, and with other runners the list has them: write"
            " 'pickValue: all_non_null' to leave them out"
        )
    elif end.missing is _MissingValues.ALL_OF_PAIR:
        note = "there is no job for a number where all are missing, and other runners have one"
    else:
        return
    report(
        end.link.source_place, f"{end.subject}: {end.source} {short_form(end.source_type)}; {note}"
    )
