"""From the text of a CWL Workflow to a plan, or to every reason why there is none."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.plan import (
    Argument,
    Constant,
    NextSource,
    Parameter,
    ParameterRef,
    Plan,
    PlanOutput,
    PlanStep,
    SideInput,
    Source,
    StepOutput,
)
from sluice.contracts.problems import Finding
from sluice.contracts.states import EntryKind, InputMode
from sluice.cwl.checks.expressions import check_expressions
from sluice.cwl.checks.link_types import check_types
from sluice.cwl.checks.rules import check_rules
from sluice.cwl.checks.tool_fields import warn_of_idle_fields
from sluice.cwl.checks.tool_sizes import check_weight
from sluice.cwl.cwltool_checks.schema import check_as_cwltool, check_schema
from sluice.cwl.dataflow.chosen_outputs import add_passing_steps
from sluice.cwl.dataflow.data_input import data_entries
from sluice.cwl.dataflow.links import SideLink, Wiring, read_links
from sluice.cwl.dataflow.merging import pick_of
from sluice.cwl.dataflow.nested_workflows import Unflat, flatten, nested_to_flatten
from sluice.cwl.dataflow.numbering import Numbering, check_pairs
from sluice.cwl.dataflow.single_values import has_one_job, may_be_missing
from sluice.cwl.dataflow.streams import Stream
from sluice.cwl.documents.document import VERSIONS, Document, canonical, find_workflow
from sluice.cwl.documents.main_file import find_main
from sluice.cwl.documents.named_types import address_types
from sluice.cwl.documents.packing import as_text, read_files
from sluice.cwl.documents.types import is_optional, without_null
from sluice.cwl.documents.workflow import Link, Port, SourcePort, Step, Workflow, read_workflow
from sluice.cwl.features import CWLTOOL_NAMESPACE
from sluice.cwl.plan.formats import without_formats
from sluice.cwl.plan.process_versions import with_own_files
from sluice.cwl.plan.step_workflows import contained, untold, workflow_features
from sluice.cwl.properties.extensions import Extensions, Fields, read_extensions, refuse_nested
from sluice.cwl.properties.requirements import (
    Needs,
    check_names,
    expressions_of,
    merged,
    needs_of,
    set_apart,
)
from sluice.cwl.reading.files import DiskFiles
from sluice.cwl.reading.findings import START, EnoughFound, Findings
from sluice.cwl.reading.nodes import clone, plain_json, processes_inside
from sluice.cwl.reading.uploads import Upload
from sluice.cwl.reading.yaml_text import read_text

#: The libraries keep global state; templates are compiled one at a time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Compiled:
    """``plan`` is None exactly when there is an error among the findings. Errors come first, each
    kind sorted by place."""

    plan: Plan | None
    findings: list[Finding]

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "warning"]


def compile_template(text: str, *, name: str, file: str = "workflow.cwl") -> Compiled:
    """Compiles a template; bad input never raises. ``file`` is the name that stands in the
    findings.

    Nothing but ``text`` is read: no file, no network. No expression is evaluated. One call at a
    time; others wait.
    """
    findings, plan = Findings(file), None
    with _LOCK, suppress(EnoughFound):
        plan = _compile(address_types(read_text(text, findings), None, findings), name, findings)
    return Compiled(plan, findings.sorted())


def compile_file(path: Path, *, name: str) -> tuple[Compiled, str]:
    """Compiles a workflow file with all the files it refers to; findings name the file they are in.
    With it, the packed text.

    The text is empty where the files cannot be read.
    """
    findings, plan, text = Findings(str(path)), None, ""
    with _LOCK, suppress(EnoughFound):
        packed = read_files(str(path), DiskFiles(), findings, own=findings)
        text = packed.text
        plan = None if findings.failed else _compile(packed.address_types(findings), name, findings)
        text = packed.text if not packed.inlined else as_text(packed.root)
    return Compiled(plan, findings.sorted()), text


@dataclass(frozen=True, slots=True)
class CompiledUpload:
    """``main``: path of the workflow, None where it could not be told. ``document``: all files as
    one, None after an error."""

    compiled: Compiled
    main: str | None
    document: dict[str, Any] | None


def compile_upload(upload: Upload, *, name: str) -> CompiledUpload:
    """As ``compile_template`` for a template of several files: nothing but these is read. Findings
    name the file they are in."""
    findings, main, plan, document = Findings(""), None, None, None
    with _LOCK, suppress(EnoughFound):
        main = find_main(upload, findings)
        if main is not None:
            findings.file = main
            packed = read_files(main, upload.files, findings, own=findings)
            plan = (
                None
                if findings.failed
                else _compile(packed.address_types(findings), name, findings)
            )
            document = None if plan is None else plain_json(packed.root)
            for left_out, reason in upload.unusable.items():
                findings.warning(
                    START._replace(file=left_out),
                    f"it {reason}, and is left out: nothing refers to it",
                )
    return CompiledUpload(Compiled(plan, findings.sorted()), main, document)


def _compile(root: Any, name: str, findings: Findings) -> Plan | None:
    document = find_workflow(root, findings) if root is not None or not findings.failed else None
    if document is None:
        return None
    extensions = read_extensions(document, findings)
    canonical(document, findings)
    if document.is_cut or not check_weight(document.workflow, findings):
        return None
    nested = nested_to_flatten(document.workflow)
    if not nested or findings.failed:
        return _plan_of(document, document.workflow, extensions, name=name, findings=findings)
    attempt = Findings(findings.file)
    attempt.include(findings)
    plan = _plan_of_steps_inside(document, extensions, name=name, findings=attempt)
    if plan is not None:
        findings.include(attempt)
        return plan
    plan = _plan_of(document, document.workflow, extensions, name=name, findings=findings)
    for step in nested if plan is not None else ():
        why = next((finding.message for finding in attempt.sorted()), "")
        findings.warning(
            step.place,
            f"the workflow of step '{step.name}' runs inside one job; as steps of their own: {why}",
        )
    return plan


def _plan_of_steps_inside(
    document: Document, extensions: Extensions, *, name: str, findings: Findings
) -> Plan | None:
    """The plan in which the steps of nested workflows are steps; None, with findings, where that
    cannot be."""
    try:
        flat = flatten(document.workflow, extensions)
        inside = replace(document, workflow=flat.workflow)
        return _plan_of(inside, document.workflow, flat.extensions, name=name, findings=findings)
    except Unflat as error:
        findings.error(error.place, f"{error}")
    except EnoughFound:
        pass
    return None


def _plan_of(
    document: Document,
    written: CommentedMap,
    extensions: Extensions,
    *,
    name: str,
    findings: Findings,
) -> Plan | None:
    """``written``: the workflow as the reference runner is to see it."""
    refuse_nested(extensions, findings)
    workflow = read_workflow(document, findings)
    add_passing_steps(workflow)
    wiring = read_links(workflow, findings)
    check_types(workflow, wiring, findings)
    check_rules(workflow, wiring, extensions, findings)
    for owner in (
        workflow.body,
        *(part for pair in processes_inside(workflow.body) for part in pair),
    ):
        check_names(owner, document.version, document.namespaces, findings)
    needs = {
        step.name: needs_of(step, workflow.body, document, findings)
        for step in workflow.steps.values()
        if step.has_tool
    }
    if not findings.failed:
        check_pairs(workflow, wiring, findings)
    check_expressions(written, findings)
    warn_of_idle_fields(written, findings)
    _check_with_cwltool(document, written, findings)
    if findings.failed:
        return None
    return _Planner(
        document, workflow, wiring, extensions, needs, Numbering(workflow, wiring)
    ).plan(name)


def _check_with_cwltool(document: Document, workflow: CommentedMap, findings: Findings) -> None:
    """The schema always, so that all reasons come together; a whole load only where nothing else is
    wrong."""
    if document.incomplete or findings.full:
        return
    body = clone(workflow)
    set_apart(body, document.namespaces)
    for step, process in processes_inside(body):
        set_apart(step, document.namespaces)
        set_apart(process, document.namespaces)
        if process.get("cwlVersion") in VERSIONS:
            del process["cwlVersion"]
    check_schema(body, findings)
    if not findings.failed:
        check_as_cwltool(body, findings)


@dataclass(frozen=True, slots=True)
class _Planner:
    """Puts the plan together; everything has been checked."""

    document: Document
    workflow: Workflow
    wiring: Wiring
    extensions: Extensions
    needs: dict[str, Needs]
    numbering: Numbering

    def plan(self, name: str) -> Plan:
        fields = self.extensions.workflow.values
        data_input = self.wiring.data_input or ""
        return Plan(
            name=name,
            doc=_doc(self.workflow.body),
            cwl_version=self.document.version,
            data_input=data_input,
            data_entries=data_entries(self.workflow.inputs[data_input]),
            parameters={
                port.name: _parameter(port)
                for port in self.workflow.inputs.values()
                if port.name != data_input
            },
            steps=_in_order([self._step(step) for step in self.workflow.steps.values()]),
            outputs=[
                _output(output, origin, self.wiring.streams[origin])
                for output, origin in self.wiring.outputs.items()
            ],
            **{
                key: fields[key]
                for key in ("match", "priority", "bind", "require", "retention")
                if key in fields
            },
        )

    def _step(self, step: Step) -> PlanStep:
        fields = self.extensions.steps.get(step.name, Fields()).values
        data = self.wiring.data_links[step.name]
        source, *further = self._sources(step, data, scattered=data.name in step.scatter)
        needs = self.needs[step.name]
        single = has_one_job(step, self.workflow, self.wiring, self.extensions)
        return PlanStep(
            name=step.name,
            doc=_doc(step.body),
            mode=self.wiring.modes[step.name],
            data_port=data.name,
            source=source.source,
            next_sources=further,
            pick=pick_of(data),
            data_optional=may_be_missing(step, data)
            if single
            else is_optional(step.input_type(data.name)),
            single=single,
            data_kind=self._kind(step, data),
            side_inputs=[
                self._side_input(step, side) for side in self.wiring.side_links[step.name]
            ],
            arguments=self._arguments(step),
            outputs=[self._step_output(step, port) for port in step.outputs],
            tool=self._executable(step, needs),
            groups=fields.get("merge", PlanStep.model_fields["groups"].default),
            resources=needs.resources,
            device_type=needs.device_type,
            container=needs.container,
            **{key: fields[key] for key in ("boundary", "retry", "rank", "batch") if key in fields},
        )

    def _side_input(self, step: Step, side: SideLink) -> SideInput:
        name = side.link.name
        source, *further = self._sources(step, side.link, scattered=side.mode is InputMode.EACH)
        is_single = side.mode is InputMode.ONE
        optional = (
            may_be_missing(step, side.link) if is_single else is_optional(step.input_type(name))
        )
        return SideInput(
            port=name,
            source=source.source,
            next_sources=further,
            pick=pick_of(side.link),
            mode=side.mode,
            optional=optional,
            kind=self._kind(step, side.link),
        )

    def _kind(self, step: Step, link: Link) -> EntryKind:
        stream = self.wiring.stream_of(step.name, link.name)
        return EntryKind.FILE if stream is None else stream.kind

    def _sources(self, step: Step, link: Link, *, scattered: bool) -> list[NextSource]:
        """Numbers count only where files are paired by them, and to the steps after that."""
        starts = self.numbering.starts(step.name, link.name)
        return [
            NextSource(
                source=Source(step=origin.step, port=origin.port), start=start if scattered else 0
            )
            for origin, start in zip(self.wiring.sources(step.name, link.name), starts, strict=True)
        ]

    def _step_output(self, step: Step, port: str) -> StepOutput:
        optional = step.conditional or is_optional(step.tool_outputs[port].type)
        stream = self.wiring.streams[SourcePort(step.name, port)]
        return StepOutput(port=port, optional=optional, kind=stream.kind, spread=stream.spread)

    def _executable(self, step: Step, needs: Needs) -> dict[str, Any]:
        tool = self._tool(step, needs)
        if not step.contained and not untold(step, self.wiring):
            return with_own_files(tool, self.document.version)
        javascript = expressions_of(step, self.workflow.body, self.document.namespaces)
        around = contained(
            step, tool, self.wiring, version=self.document.version, javascript=javascript
        )
        return with_own_files(around, self.document.version)

    def _arguments(self, step: Step) -> dict[str, Argument]:
        found: dict[str, Argument] = {}
        data = {
            self.wiring.data_links[step.name].name,
            *(side.link.name for side in self.wiring.side_links[step.name]),
        }
        for link in step.links.values():
            origin = self.wiring.origins.get((step.name, link.name))
            if origin is not None and link.name not in data:
                found[link.name] = ParameterRef(name=origin.port)
            elif link.body.get("default") is not None:
                found[link.name] = Constant(value=plain_json(link.body["default"]))
        return found

    def _tool(self, step: Step, needs: Needs) -> dict[str, Any]:
        """The tool as a document of its own, that cwltool loads from a file by itself."""
        requirements, hints = merged(needs)
        own = step.tool.get("cwlVersion")
        tool: dict[str, Any] = {
            "cwlVersion": own if own in VERSIONS else self.document.version,
            "class": step.tool["class"],
            "id": step.name,
        }
        if any(":" in hint["class"] for hint in hints):
            tool["$namespaces"] = {"cwltool": CWLTOOL_NAMESPACE}
        tool.update(
            (key, value)
            for key, value in plain_json(step.tool).items()
            if key not in {*tool, "requirements", "hints"}
        )
        if tool["class"] == "Workflow":
            requirements = [*requirements, *workflow_features()]
        if requirements:
            tool["requirements"] = plain_json(requirements)
        if hints:
            tool["hints"] = plain_json(hints)
        return without_formats(tool, self.document.namespaces)


def _in_order(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """As the data flows; in the order of the text where that leaves it open. There is no circle."""
    left, ordered = list(steps), list[PlanStep]()
    while left:
        waiting = {step.name for step in left}
        ready = next(
            step for step in left if not any(source.step in waiting for source in step.sources)
        )
        left.remove(ready)
        ordered.append(ready)
    return ordered


def _output(name: str, origin: SourcePort, stream: Stream) -> PlanOutput:
    return PlanOutput(
        name=name,
        step=origin.step or "",
        port=origin.port,
        kind=stream.kind,
        single=not stream.many,
    )


def _parameter(port: Port) -> Parameter:
    default = plain_json(port.body.get("default"))
    return Parameter(
        type=plain_json(without_null(port.type)),
        default=default,
        required=default is None and not is_optional(port.type),
        doc=_doc(port.body),
    )


def _doc(body: Any) -> str:
    written = body.get("doc") or body.get("label") or ""
    return (
        "\n".join(str(line) for line in written)
        if isinstance(written, list)
        else str(written).strip()
    )
