"""The steps of the plan: the sources of their data, what they run, and their outputs."""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.contracts.common.states import EntryKind, InputMode, TaskMode
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.plan import (
    Argument,
    Constant,
    NextSource,
    ParameterRef,
    PlanStep,
    Source,
    StepInput,
    StepOutput,
    main_input_mode,
)
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.file_defaults import default_files
from sluice.cwl.dataflow.links import SideLink
from sluice.cwl.dataflow.merging import find_pick
from sluice.cwl.dataflow.numbering import Numbering
from sluice.cwl.dataflow.single_values import has_one_job, may_be_missing
from sluice.cwl.documents.types import is_optional, type_alternatives
from sluice.cwl.documents.workflow import Link, SourcePort, Step
from sluice.cwl.plan.documentation import documentation
from sluice.cwl.plan.tools import ToolWriter
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.extension_reader import Fields
from sluice.cwl.reading.nodes import plain_json

#: Extension fields that are fields of a step of the plan with the same name.
_FIELDS = tuple(name for name in FIELDS if name in PlanStep.model_fields)


@dataclass(frozen=True, slots=True)
class StepPlanner:
    """Makes the steps of the plan."""

    flow: Dataflow
    needs: Mapping[str, Needs]
    numbering: Numbering
    tools: ToolWriter

    def plan_step(self, step: Step) -> PlanStep:
        """Return a step of the plan."""
        fields = self.flow.extensions.steps.get(step.name, Fields()).values
        mode, single = self.flow.wiring.modes[step.name], has_one_job(step, self.flow)
        return PlanStep(
            name=step.name,
            doc=documentation(step.body),
            mode=mode,
            inputs=[
                self._main_input(step, mode, takes_one=single),
                *(
                    self._input(
                        step,
                        side,
                        scattered=side.mode is InputMode.EACH,
                        takes_one=side.mode is InputMode.ONE,
                    )
                    for side in self.flow.wiring.side_links[step.name]
                ),
            ],
            single=single,
            cross=step.scatter if step.is_crossproduct else [],
            by_place=self.numbering.pairs_by_position(step),
            arguments=self._arguments(step),
            outputs=[self._step_output(step, port) for port in step.outputs],
            tool=self.tools.executable(step),
            groups=fields.get("merge", PlanStep.model_fields["groups"].default),
            needs=self.needs[step.name],
            **{key: fields[key] for key in _FIELDS if key in fields},
        )

    def _main_input(self, step: Step, mode: TaskMode, *, takes_one: bool) -> StepInput:
        """Return the input that jobs are made of.

        If jobs are made of values, the input refers to the data set of the chain.
        """
        wiring = self.flow.wiring
        data = wiring.data_links.get(step.name)
        if data is None:
            source = Source(step=None, port=wiring.data_input or "")
            return StepInput(port="", source=source, mode=InputMode.NONE, optional=takes_one)
        main = SideLink(data, main_input_mode(mode))
        return self._input(step, main, scattered=data.name in step.scatter, takes_one=takes_one)

    def _input(
        self, step: Step, side_link: SideLink, *, scattered: bool, takes_one: bool
    ) -> StepInput:
        """Return an input of a step.

        Args:
            step: The step.
            side_link: The link with its mode.
            scattered: Whether the step scatters over it.
            takes_one: Whether a job gets the only file.
        """
        link = side_link.link
        source, *further = self._sources(step, link, scattered=scattered)
        optional = (
            may_be_missing(step, link) if takes_one else is_optional(step.input_type(link.name))
        )
        return StepInput(
            port=link.name,
            source=source.source,
            next_sources=further,
            pick=find_pick(link),
            mode=side_link.mode,
            optional=optional,
            kind=self._kind(step, link),
        )

    def _kind(self, step: Step, link: Link) -> EntryKind:
        stream = self.flow.wiring.find_stream(step.name, link.name)
        return EntryKind.FILE if stream is None else stream.kind

    def _sources(self, step: Step, link: Link, *, scattered: bool) -> list[NextSource]:
        """Return the sources of a link, with number offsets if files are paired by number."""
        offsets = self.numbering.number_offsets(step.name, link.name)
        return [
            NextSource(
                source=Source(step=origin.step, port=origin.port), start=offset if scattered else 0
            )
            for origin, offset in zip(
                self.flow.wiring.sources(step.name, link.name), offsets, strict=True
            )
        ]

    def _step_output(self, step: Step, port: str) -> StepOutput:
        # cwltool does not check whether the outputs of a workflow are there.
        is_whole = step.tool.get("class") == "Workflow" and len(self.flow.workflow.steps) == 1
        kind = step.tool_outputs[port].type
        may_be_null = is_optional(kind) or "Any" in type_alternatives(kind)
        optional = is_whole or step.conditional or may_be_null
        stream = self.flow.wiring.streams[SourcePort(step.name, port)]
        return StepOutput(port=port, optional=optional, kind=stream.kind, spread=stream.spread)

    def _arguments(self, step: Step) -> dict[str, Argument]:
        arguments: dict[str, Argument] = {}
        wiring = self.flow.wiring
        for link in step.links.values():
            if link.name in self.needs[step.name].secrets or link.name in step.joined_links:
                continue
            origin = wiring.origins.get((step.name, link.name))
            defaults = default_files(step, link.name, self.flow.workflow, wiring)
            is_bundle = origin is not None and origin.port in wiring.bundle_inputs
            if origin is not None and (
                not wiring.is_data(step.name, link.name) or (origin.step is None and is_bundle)
            ):
                arguments[link.name] = ParameterRef(name=origin.port)
            elif defaults:  # the job gets this file if the chain is given none
                arguments[link.name] = Constant(value=defaults[0])
            elif link.body.get("default") is not None:
                arguments[link.name] = Constant(value=plain_json(link.body["default"]))
        return arguments
