"""Whether the types of the two ends of each link fit, and what becomes of the values that are not
given."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.merging import given_type
from sluice.cwl.dataflow.single_values import may_be_missing
from sluice.cwl.dataflow.streams import EntryStream
from sluice.cwl.documents.types import (
    array_of,
    fit,
    holds_files,
    is_optional,
    normal_type,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Link, Port, SourcePort, Step, Workflow
from sluice.cwl.reading.findings import Findings


def check_link_types(flow: Dataflow, findings: Findings) -> None:
    """Every link whose two ends are known."""
    for step, port in flow.wiring.origins:
        _check_input(flow.workflow.steps[step], port, flow, findings)
    for name, origin in flow.wiring.outputs.items():
        _check_output(name, origin, flow, findings)


def _check_input(step: Step, port: str, flow: Dataflow, findings: Findings) -> None:
    link, sink = step.links[port], step.tool_inputs.get(port)
    stream, given = flow.wiring.stream_of(step.name, port), given_by(step, link, flow)
    if given is None or (step.name, port) in flow.wiring.refused:
        return
    end = _End(link, step.input_named(port), given, _Lack.of(given, stream))
    if len(step.scatter) > 1 and port in step.scatter and end.lack is _Lack.LEFT_OUT:
        end = replace(end, lack=_lack_of_pair(step, flow))
    if sink is None or "valueFrom" in link.body:
        _tell_left_out(end, findings)
        return
    taken = array_of(sink.type) if port in step.scatter else sink.type
    is_defaulted = (
        stream is None and port not in step.scatter and sink.body.get("default") is not None
    )
    if is_defaulted or (end.lack is _Lack.ONLY and may_be_missing(step, link)):
        taken = normal_type(["null", taken])
    way = _way(step, link, given, sink.type)
    _tell_misfit(end, findings, taken=taken, way=way)


def _check_output(name: str, origin: SourcePort, flow: Dataflow, findings: Findings) -> None:
    link = flow.workflow.outputs[name]
    given = given_type(link, [_given(origin, flow.workflow)])
    if given is not None:
        lack = _Lack.of(given, flow.wiring.streams.get(origin))
        end = _End(link, f"output '{name}'", given, lack, "there may be none: let the output be ")
        taken = flow.workflow.output_types[name]
        _tell_misfit(end, findings, taken=taken, way=_way_out(given, taken))


def _output_type(step: Step, port: str) -> Any:
    """The type of a step's output as others see it, or None where the tool has no such output."""
    found: Port | None = step.tool_outputs.get(port)
    if found is None:
        return None
    given = normal_type(["null", found.type]) if step.conditional else found.type
    return array_of(given, step.depth)


class _Lack(Enum):
    """What becomes of values that are not given."""

    NEVER = auto()  #: all are, or it is no data
    ONLY = auto()  #: there is one value, or none
    LEFT_OUT = auto()  #: of the list
    ONE_OF_PAIR = auto()  #: of those of a number, another is always there
    ALL_OF_PAIR = auto()  #: none may be there

    @classmethod
    def of(cls, given: Any, stream: EntryStream | None) -> "_Lack":
        if stream is None or not may_lack(given):
            return cls.NEVER
        return cls.LEFT_OUT if stream.many else cls.ONLY


@dataclass(frozen=True, slots=True)
class _End:
    """What a link brings to its end. ``subject``: the end in words."""

    link: Link
    subject: str
    given: Any
    lack: _Lack
    where_missing: str = (
        "the step fails where there is none; where the tool can do without, let it take "
    )

    @property
    def source(self) -> str:
        sources = [f"'{source}'" for source in self.link.sources or ["?"]]
        return f"{', '.join(sources)} {'is' if len(sources) == 1 else 'are'}"


def _given(origin: SourcePort, workflow: Workflow) -> Any:
    if origin.step is not None:
        return _output_type(workflow.steps[origin.step], origin.port)
    port = workflow.inputs[origin.port]
    return without_null(port.type) if port.body.get("default") is not None else port.type


def may_lack(kind: Any) -> bool:
    """Is it, or are its items, optional?"""
    return is_optional(kind) or (
        isinstance(kind, dict) and kind.get("type") == "array" and is_optional(kind["items"])
    )


def given_by(step: Step, link: Link, flow: Dataflow) -> Any:
    """The type of what a link brings; None where that is not known."""
    sources = flow.wiring.sources(step.name, link.name)
    return given_type(link, [_given(origin, flow.workflow) for origin in sources])


def _lack_of_pair(step: Step, flow: Dataflow) -> _Lack:
    """Of several inputs that the step scatters over."""
    given = [given_by(step, step.links[name], flow) for name in step.scatter if name in step.links]
    return _Lack.ALL_OF_PAIR if all(map(may_lack, given)) else _Lack.ONE_OF_PAIR


def _way(step: Step, link: Link, given: Any, port_type: Any) -> str:
    """The way to make a data link fit, where there is a plain one."""
    if not step.scatter and fit(given, array_of(port_type)) != "does not fit":
        return (
            f": add 'scatter: {link.name}' to run the tool on each"
            f" {'file' if holds_files(given) else 'value'}"
        )
    if step.scatter and fit(given, port_type) != "does not fit":
        return f": leave 'scatter: {link.name}' out"
    return ""


def _way_out(given: Any, taken: Any) -> str:
    """For a workflow output that is declared as the list of what the step gives."""
    if fit(array_of(given), taken) == "does not fit":
        return ""
    return (
        f": let the output be {short_form(given)}; a step that merges in groups gives one for each"
    )


def _tell_misfit(end: _End, findings: Findings, *, taken: Any, way: str = "") -> None:
    place = end.link.source_place
    both = f"{end.subject} takes {short_form(taken)}, and {end.source} {short_form(end.given)}"
    match fit(end.given, taken):
        case "does not fit":
            findings.error(place, f"{both}{way}")
        case "may not fit":
            lacking = "files not written" if holds_files(end.given) else "values not given"
            notes = {
                _Lack.NEVER: "a job fails where the value does not fit",
                _Lack.ONLY: end.where_missing + short_form(normal_type(["null", taken])),
                _Lack.LEFT_OUT: (
                    f"{lacking} are left out here; for other runners add 'pickValue: all_non_null'"
                ),
            }
            pairs = (
                "there is no job here for a number where it is missing, and other runners fail"
                " there"
            )
            findings.warning(place, f"{both}: {notes.get(end.lack, pairs)}")
        case "fits":
            _tell_left_out(end, findings)


def _tell_left_out(end: _End, findings: Findings) -> None:
    """Others would get a null for each."""
    if end.lack is _Lack.LEFT_OUT:
        way = "for the same under other runners write 'pickValue: all_non_null'"
        note = f"those that are missing are left out, and are no nulls in a list; {way}"
    elif end.lack is _Lack.ALL_OF_PAIR:
        note = "there is no job here for a number where all are missing, and other runners have one"
    else:
        return
    findings.warning(
        end.link.source_place, f"{end.subject}: {end.source} {short_form(end.given)}; {note}"
    )
