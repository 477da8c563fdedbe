"""Tasks for the WMS and registrations of their data sets, made from the steps of a plan."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.base import Name
from sluice.contracts.common.bounds import check_inherited
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.common.states import DatasetType, EntryKind, InputMode
from sluice.contracts.data.counts import PRODUCED
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.tasks import NextInput, ReusedTask, Task, TaskInput, TaskOutput
from sluice.contracts.templates.parameters import names_bundles
from sluice.contracts.templates.plan import NextSource, Plan, PlanStep, Source, StepInput
from sluice.text.visible_text import quoted
from wfms.chains.domain.graph import output_ports
from wfms.chains.domain.identity import dataset_name, task_uid
from wfms.chains.domain.parameters import arguments

_NAME: TypeAdapter[str] = TypeAdapter(Name)
#: Length in characters of the digest of a warm worker's kind.
_KIND = 32


class InputFilesMissing(Unprocessable):
    """All files that the jobs of a step would be made of are missing."""

    def __init__(self, step: str, port: str) -> None:
        super().__init__(
            f"step {step} has nothing to work on: no file was given for its input {port}",
            step=step,
            port=port,
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """The properties that a chain's data sets inherit.

    It is the chain, its template, the description of the input data set, and their owner.
    """

    chain: UUID
    template: str
    name: str
    meta: Mapping[str, Any]
    period: str | None
    run: int | None
    owner: str | None = None
    group: str = EVERYONE


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """A data set, and its folder on a storage."""

    dataset: UUID
    url: str

    @property
    def storage(self) -> str:
        """Return the URL of the storage; a data set's folder is directly in its storage."""
        return self.url.rsplit("/", 1)[0]


def ports(plan: Plan, step: str) -> list[str | None]:
    """Return the ports of ``step`` that need a data set; None stands for its logs."""
    planned = plan.step(step)
    parts = [parts_port(planned)] if planned.groups.tree else []
    return [*(output.port for output in planned.outputs), *parts, None]


def parts_port(step: PlanStep) -> str:
    """Return the port for the results of all jobs of a tree except the last one.

    No tool has an output with such a name.
    """
    return f"{step.outputs[0].port}~parts"


def before_port(port: str) -> str:
    """Return the port for the data that the chain before a rerun wrote at ``port``."""
    return f"{port}~before"


def new_dataset(
    origin: Origin, plan: Plan, *, step: str, port: str | None, storage_url: str
) -> NewDataset:
    """Return the registration of the data set that ``step`` writes at ``port``."""
    name = dataset_name(origin.chain, step, port)
    inherited = {
        key: value for key, value in origin.meta.items() if key not in _own_keys(origin.meta)
    }
    meta = {"chain": str(origin.chain), "template": origin.template, "step": step}
    if port is not None:
        meta["port"] = port
        output = output_ports(plan).get((step, port))
        if output is not None:
            meta |= {"output": output, "output_name": f"{origin.name}.{output}"}
    return NewDataset(
        name=name,
        type=DatasetType.LOGS if port is None else DatasetType.INTERMEDIATE,
        meta=_with_inherited(meta, inherited),
        period=origin.period,
        run=origin.run,
        url=f"{storage_url}/{name}",
        owner=origin.owner,
        group=None if origin.group == EVERYONE else origin.group,
    )


def _own_keys(meta: Mapping[str, Any]) -> set[str]:
    """Return the metadata keys of an input that its descendants do not inherit.

    If a chain wrote the input, its port, its output and its output name are among them.
    """
    return {PRODUCED, "port", "output", "output_name"} if "chain" in meta else {PRODUCED}


def _with_inherited(
    own_fields: dict[str, Any], inherited_fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the metadata with what is inherited, unless that is too large.

    Metadata stored before there were bounds may be too large to be registered again.
    """
    try:
        return check_inherited({**inherited_fields, **own_fields})
    except ValueError as error:
        return {**own_fields, "not_inherited": str(error)}


def name_findings(chain: UUID, plan: Plan) -> list[Finding]:
    """Return the steps and ports whose names give no valid data set name."""
    problems = []
    for step in plan.steps:
        for port in ports(plan, step.name):
            try:
                _NAME.validate_python(dataset_name(chain, step.name, port))
            except ValidationError:
                subject = f"step {quoted(step.name)}" + (
                    "" if port is None else f" with its port {quoted(port)}"
                )
                problems.append(
                    Finding(
                        message=(
                            f"{subject} cannot be the name of a data set: use at most 160 letters,"
                            " digits and _.+@=,~-"
                        )
                    )
                )
    return problems


def dataset_folder(dataset: Dataset, storage_url: str) -> DatasetFolder:
    """Return where the data set is.

    A repeated registration returns the first one, which may be on another storage.
    """
    return DatasetFolder(dataset.uid, dataset.url or f"{storage_url}/{dataset.name}")


@dataclass(frozen=True, slots=True)
class StepDatasets:
    """Data sets of a step: what it reads, what it writes by port, and its logs.

    Files that were not given are left out. ``before`` is the task whose finished jobs are taken
    over.
    """

    sources: Mapping[Source, UUID]
    outputs: Mapping[str, DatasetFolder]
    logs: DatasetFolder
    before: ReusedTask | None = None


def make_task(
    origin: Origin, plan: Plan, *, step: str, params: Mapping[str, Any], datasets: StepDatasets
) -> Task:
    """Return the task of a step.

    Raises:
        InputFilesMissing: No file was given for its main input.
    """
    planned = plan.step(step)
    outputs = [
        TaskOutput(
            port=output.port,
            dat_out_uid=datasets.outputs[output.port].dataset,
            dat_stor_url=datasets.outputs[output.port].storage,
            dat_out_url=datasets.outputs[output.port].url,
            optional=output.optional,
            kind=output.kind,
            spread=output.spread,
        )
        for output in planned.outputs
    ]
    task_inputs = [_task_input(planned_input, datasets, params) for planned_input in planned.inputs]
    if task_inputs[0] is None:
        raise InputFilesMissing(planned.name, planned.main_input.port)
    args = arguments(plan, planned, params) | _empty_lists(planned, task_inputs)
    return Task(
        uid=task_uid(origin.chain, step),
        chain_uid=origin.chain,
        step=step,
        template=origin.template,
        executable=planned.tool,
        args=args,
        rank=planned.rank,
        mode=planned.mode,
        depth=plan.depth(step),
        inputs=[task_input for task_input in task_inputs if task_input is not None],
        single=planned.single,
        retry=planned.retry.attempts,
        backoff=planned.retry.backoff,
        retry_also=planned.retry.also,
        speculate=planned.retry.speculate,
        outputs=outputs,
        log_out_uid=datasets.logs.dataset,
        log_stor_url=datasets.logs.storage,
        log_out_url=datasets.logs.url,
        boundary=planned.boundary,
        groups=planned.groups,
        batch=planned.batch.files,
        cross=planned.cross,
        by_place=planned.by_place,
        parts_uid=datasets.outputs[parts_port(planned)].dataset if planned.groups.tree else None,
        needs=_needs(planned, args, group=origin.group),
        taken_over=datasets.before,
        owner=origin.owner,
        group=origin.group,
    )


def _empty_lists(
    plan_step: PlanStep, task_inputs: Sequence[TaskInput | None]
) -> dict[str, list[Any]]:
    """Return the lists of files of which none was given, by port."""
    return {
        planned_input.port: []
        for planned_input, task_input in zip(plan_step.inputs, task_inputs, strict=True)
        if task_input is None and planned_input.mode is InputMode.ALL and not planned_input.optional
    }


def _needs(plan_step: PlanStep, args: Mapping[str, Any], *, group: str) -> Needs:
    """Return the step's resource request, with the kind of its warm worker.

    Pilots and the WMS compare the kind to find a warm worker that can run a job. A warm worker that
    has seen the data of one group serves no other.
    """
    warm = plan_step.needs.warm
    if warm is None:
        return plan_step.needs
    key_values = {name: args.get(name) for name in warm.key}
    tool = {name: value for name, value in plan_step.tool.items() if name != "id"}  # the step name
    group_part = [] if group == EVERYONE else [group]
    kind_json = json.dumps([tool, key_values, *group_part], sort_keys=True, default=str).encode()
    kind = hashlib.sha256(kind_json).hexdigest()[:_KIND]
    return plan_step.needs.model_copy(update={"warm": warm.model_copy(update={"kind": kind})})


def _task_input(
    plan_input: StepInput, datasets: StepDatasets, params: Mapping[str, Any]
) -> TaskInput | None:
    """Return the input without files that were not given; None if none was given."""
    parts = [NextSource(source=plan_input.source), *plan_input.next_sources]
    given_parts = [part for part in parts if part.source in datasets.sources]
    if not given_parts:
        return None
    has_bundles = any(
        part.source.step is None and names_bundles(params.get(part.source.port))
        for part in given_parts
    )
    return TaskInput(
        port=plan_input.port,
        dat_in_uid=datasets.sources[given_parts[0].source],
        next_inputs=[
            NextInput(dat_in_uid=datasets.sources[part.source], start=part.start)
            for part in given_parts[1:]
        ],
        pick=plan_input.pick,
        mode=plan_input.mode,
        optional=plan_input.optional,
        kind=EntryKind.BUNDLE if has_bundles else plan_input.kind,
    )
