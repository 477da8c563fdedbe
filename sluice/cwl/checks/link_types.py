"""Check of the types at both ends of each link, and of missing values."""

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
from sluice.text.visible_text import quoted


def check_link_types(flow: Dataflow, findings: Findings) -> None:
    """Report each link whose source does not fit its target."""
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
        end = _End(
            link, f"output {quoted(name)}", given, lack, "there may be none: let the output be "
        )
        taken = flow.workflow.output_types[name]
        _tell_misfit(end, findings, taken=taken, way=_way_out(given, taken))


def _output_type(step: Step, port: str) -> Any:
    """Return the type of a step output outside the step, or None if it does not exist."""
    found: Port | None = step.tool_outputs.get(port)
    if found is None:
        return None
    given = normal_type(["null", found.type]) if step.conditional else found.type
    return array_of(given, step.depth)


class _Lack(Enum):
    """What happens to missing values."""

    NEVER = auto()  #: no value may be missing, or the link brings no data
    ONLY = auto()  #: there is one value, or none
    LEFT_OUT = auto()  #: missing values are left out of the list
    ONE_OF_PAIR = auto()  #: of the values with one number, at least one is there
    ALL_OF_PAIR = auto()  #: all values with one number may be missing

    @classmethod
    def of(cls, given: Any, stream: EntryStream | None) -> "_Lack":
        """Return what happens to missing values of a type that a stream carries."""
        if stream is None or not may_lack(given):
            return cls.NEVER
        return cls.LEFT_OUT if stream.many else cls.ONLY


@dataclass(frozen=True, slots=True)
class _End:
    """What a link brings to its target.

    Attributes:
        link: The link.
        subject: The target in words.
        given: The type of the source.
        lack: What happens to missing values.
        where_missing: The warning if the only value may be missing.
    """

    link: Link
    subject: str
    given: Any
    lack: _Lack
    where_missing: str = (
        "the step fails where there is none; where the tool can do without, let it take "
    )

    @property
    def source(self) -> str:
        """The sources of the link in words."""
        sources = [quoted(source) for source in self.link.sources or ["?"]]
        return f"{', '.join(sources)} {'is' if len(sources) == 1 else 'are'}"


def _given(origin: SourcePort, workflow: Workflow) -> Any:
    if origin.step is not None:
        return _output_type(workflow.steps[origin.step], origin.port)
    port = workflow.inputs[origin.port]
    return without_null(port.type) if port.body.get("default") is not None else port.type


def may_lack(kind: Any) -> bool:
    """Return whether the type, or the type of its items, is optional."""
    return is_optional(kind) or (
        isinstance(kind, dict) and kind.get("type") == "array" and is_optional(kind["items"])
    )


def given_by(step: Step, link: Link, flow: Dataflow) -> Any:
    """Return the type that a link brings, or None if it is unknown."""
    sources = flow.wiring.sources(step.name, link.name)
    return given_type(link, [_given(origin, flow.workflow) for origin in sources])


def _lack_of_pair(step: Step, flow: Dataflow) -> _Lack:
    """Return what happens to missing values of the inputs that the step scatters over together."""
    given = [given_by(step, step.links[name], flow) for name in step.scatter if name in step.links]
    return _Lack.ALL_OF_PAIR if all(map(may_lack, given)) else _Lack.ONE_OF_PAIR


def _way(step: Step, link: Link, given: Any, port_type: Any) -> str:
    """Return a hint how to make a data link fit, or an empty text."""
    if not step.scatter and fit(given, array_of(port_type)) != "does not fit":
        return (
            f": add 'scatter: {link.name}' to run the tool on each"
            f" {'file' if holds_files(given) else 'value'}"
        )
    if step.scatter and fit(given, port_type) != "does not fit":
        return f": leave 'scatter: {link.name}' out"
    return ""


def _way_out(given: Any, taken: Any) -> str:
    """Return a hint for a workflow output that is declared as a list of the step's type."""
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
    """Warn of values that are left out here, where other runners have nulls."""
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
