"""Makes the task for the WMS, and registrations of the data sets it writes, from a step of the
plan."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from sluice.contracts.base import Name
from sluice.contracts.bounds import check_inherited
from sluice.contracts.counts import PRODUCED
from sluice.contracts.datasets import Dataset, NewDataset
from sluice.contracts.needs import Needs
from sluice.contracts.owners import EVERYONE
from sluice.contracts.plan import NextSource, Plan, PlanStep, Source, StepInput
from sluice.contracts.problems import Finding, Unprocessable
from sluice.contracts.states import DatasetType
from sluice.contracts.tasks import NextInput, TakenOver, Task, TaskInput, TaskOutput
from sluice.visible_text import quoted
from wfms.chains.domain.graph import output_ports
from wfms.chains.domain.identity import dataset_name, task_uid
from wfms.chains.domain.parameters import arguments

_NAME: TypeAdapter[str] = TypeAdapter(Name)
#: Characters of a kind's digest.
_KIND = 32


class NothingToRead(Unprocessable):
    """All that the jobs of a step would be made of are files that were not given."""

    def __init__(self, step: str, port: str) -> None:
        super().__init__(
            f"step {step} has nothing to work on: no file was given for its input {port}",
            step=step,
            port=port,
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """What a chain's data sets carry along: the chain, its template, the input data set's
    description, and whose they are."""

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
        """A data set's folder lies directly in its storage."""
        return self.url.rsplit("/", 1)[0]


def ports(plan: Plan, step: str) -> list[str | None]:
    """Ports of ``step`` that need a data set; None stands for its logs."""
    planned = plan.step(step)
    parts = [parts_port(planned)] if planned.groups.tree else []
    return [*(output.port for output in planned.outputs), *parts, None]


def parts_port(step: PlanStep) -> str:
    """Stands for what the jobs of a tree give, all but the last one; no tool has an output of such
    a name."""
    return f"{step.outputs[0].port}~parts"


def before_port(port: str) -> str:
    """Stands for what a step wrote at ``port`` in the chain that this one is a rerun of."""
    return f"{port}~before"


def new_dataset(
    origin: Origin, plan: Plan, *, step: str, port: str | None, storage_url: str
) -> NewDataset:
    """The registration of what ``step`` writes at ``port``, on the storage at ``storage_url``."""
    name = dataset_name(origin.chain, step, port)
    inherited = {
        key: value for key, value in origin.meta.items() if key not in _own_of(origin.meta)
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


def _own_of(meta: Mapping[str, Any]) -> set[str]:
    """What an input says of itself alone, if a chain wrote it also what its own place there and its
    own name are."""
    return {PRODUCED, "port", "output", "output_name"} if "chain" in meta else {PRODUCED}


def _with_inherited(own: dict[str, Any], inherited: Mapping[str, Any]) -> dict[str, Any]:
    """What was stored before metadata had bounds may be too large to be registered again."""
    try:
        return check_inherited({**inherited, **own})
    except ValueError as error:
        return {**own, "not_inherited": str(error)}


def name_findings(chain: UUID, plan: Plan) -> list[Finding]:
    """Names of steps and ports that make no data set name."""
    wrong = []
    for step in plan.steps:
        for port in ports(plan, step.name):
            try:
                _NAME.validate_python(dataset_name(chain, step.name, port))
            except ValidationError:
                subject = f"step {quoted(step.name)}" + (
                    "" if port is None else f" with its port {quoted(port)}"
                )
                wrong.append(
                    Finding(
                        message=(
                            f"{subject} cannot name a data set: letters, digits and _.+@=,~- only,"
                            " 160 at most"
                        )
                    )
                )
    return wrong


def dataset_folder(dataset: Dataset, storage_url: str) -> DatasetFolder:
    """Where the data set really lies: a repeated registration answers with the first, maybe on
    another storage."""
    return DatasetFolder(dataset.uid, dataset.url or f"{storage_url}/{dataset.name}")


@dataclass(frozen=True, slots=True)
class StepDatasets:
    """Data sets of a step: what it reads, what it writes by port, its logs. Files that were not
    given are left out. ``before``: the task whose finished jobs are taken over."""

    sources: Mapping[Source, UUID]
    outputs: Mapping[str, DatasetFolder]
    logs: DatasetFolder
    before: TakenOver | None = None


def make_task(
    origin: Origin, plan: Plan, *, step: str, params: Mapping[str, Any], datasets: StepDatasets
) -> Task:
    """Raises ``NothingToRead``."""
    planned = plan.step(step)
    written = [
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
    read = [_task_input(planned_input, datasets) for planned_input in planned.inputs]
    if read[0] is None:
        raise NothingToRead(planned.name, planned.main_input.port)
    args = arguments(plan, planned, params)
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
        inputs=[given for given in read if given is not None],
        single=planned.single,
        retry=planned.retry.attempts,
        backoff=planned.retry.backoff,
        retry_also=planned.retry.also,
        speculate=planned.retry.speculate,
        outputs=written,
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


def _needs(planned: PlanStep, args: Mapping[str, Any], *, group: str) -> Needs:
    """Of a tool that stays loaded, with the kind of what is loaded: pilots and the WMS compare it
    where they look for a process that can serve a job. What has seen one group's data serves no
    other."""
    warm = planned.needs.warm
    if warm is None:
        return planned.needs
    given = {name: args.get(name) for name in warm.key}
    tool = {name: value for name, value in planned.tool.items() if name != "id"}  # the step's name
    of_group = [] if group == EVERYONE else [group]
    told = json.dumps([tool, given, *of_group], sort_keys=True, default=str).encode()
    kind = hashlib.sha256(told).hexdigest()[:_KIND]
    return planned.needs.model_copy(update={"warm": warm.model_copy(update={"kind": kind})})


def _task_input(planned: StepInput, datasets: StepDatasets) -> TaskInput | None:
    """Without files that were not given; None where these were all."""
    parts = [NextSource(source=planned.source), *planned.next_sources]
    given = [part for part in parts if part.source in datasets.sources]
    if not given:
        return None
    return TaskInput(
        port=planned.port,
        dat_in_uid=datasets.sources[given[0].source],
        next_inputs=[
            NextInput(dat_in_uid=datasets.sources[part.source], start=part.start)
            for part in given[1:]
        ],
        pick=planned.pick,
        mode=planned.mode,
        optional=planned.optional,
        kind=planned.kind,
    )
