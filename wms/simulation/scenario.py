"""The scenario of a simulation, as its YAML file has it. Times are in seconds."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated

from pydantic import Field, model_validator

from sluice.contracts.common.base import Contract, Name
from sluice.contracts.common.bounds import MAX_GPUS
from sluice.contracts.common.wording import in_words
from sluice.contracts.jobs.gpus import MAX_GPUS_PER_JOB
from sluice.contracts.jobs.resources import Labels, RequestedLabels
from sluice.contracts.jobs.simulation import PolicyName
from sluice.text.visible_text import quoted

Seconds = Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, le=1e9, allow_inf_nan=False)]
#: GPUs of a job; below 1, a share of one GPU.
Gpus = Annotated[float, Field(ge=0.0, le=MAX_GPUS_PER_JOB)]
#: The most slots of one node.
MAX_PLACES = 1_000
#: Fields that say when items arrive; exactly one is given.
COMING = ("every", "poisson", "load", "file", "table")


class Distribution(Contract):
    """A distribution; exactly one field is given. Values below 0 count as 0.

    Attributes:
        uniform: The least and the greatest value.
        normal: Mean and deviation.
        lognormal: Mean and deviation of the values themselves, not of their logarithms.
    """

    fixed: Seconds | None = None
    uniform: tuple[Seconds, Seconds] | None = None
    normal: tuple[Seconds, Seconds] | None = None
    lognormal: tuple[Positive, Seconds] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> "Distribution":
        given_names = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given_names) != 1:
            raise in_words(
                "give one of fixed, uniform, normal, lognormal"
                f" ({' and '.join(given_names) if given_names else 'none of them'} is given)"
            )
        if self.uniform is not None and self.uniform[0] > self.uniform[1]:
            raise in_words(
                f"uniform: the minimum {self.uniform[0]:g} is greater than the maximum"
                f" {self.uniform[1]:g}"
            )
        return self

    @property
    def mean(self) -> float:
        """Return the mean, as if no values were cut off at 0."""
        if self.uniform is not None:
            return sum(self.uniform) / 2
        pair = self.normal or self.lognormal
        return pair[0] if pair is not None else self.fixed or 0.0


class KindOfWork(Contract):
    """A tool with its configuration, which has to be loaded.

    A job takes the item's size × ``scale`` + ``difference``. Priority -1 disables the kind.
    """

    name: Name
    scale: Seconds = 0.0
    difference: Distribution = Distribution(fixed=0.0)
    loading: Seconds = 0.0
    priority: Annotated[float, Field(ge=-1.0, le=1e6)] = 0.0
    cores: Positive = 1.0
    ram: Annotated[int, Field(ge=0)] = 0
    gpus: Gpus = 0.0
    nodes: RequestedLabels = Field(default_factory=dict)


class Pipeline(Contract):
    """Kinds of work, one after the other.

    Attributes:
        after: Pipelines whose items all have to pass before an item of this pipeline begins, as
            before a merge. Until then the item does not exist.
    """

    name: Name
    stages: Annotated[list[str], Field(min_length=1)]
    after: list[str] = Field(default_factory=list)


class Arrivals(Contract):
    """Arrivals of items: ``pages`` of them at a time, ``count`` times.

    Exactly one of ``every``, ``poisson``, ``load``, ``file`` and ``table`` is given.

    Attributes:
        every: Time between two arrivals.
        poisson: Mean time between two arrivals, which is random.
        load: Work as a share of what all nodes can do, without loading; instead of a time.
        random: With ``load``, arrive as with ``poisson`` and not as with ``every``.
        file: A file beside the scenario with the times, one on each line.
        table: A CSV file with a line for each item: when it arrives, and the times of its jobs. It
            replaces ``pages``, ``count`` and ``size``.
    """

    pipeline: str
    pages: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    count: Annotated[int, Field(ge=1, le=10_000_000)] = 100
    every: Positive | None = None
    poisson: Positive | None = None
    load: Positive | None = None
    random: bool = False
    file: str | None = None
    table: str | None = None
    size: Distribution = Distribution(fixed=1.0)
    begin: Seconds = 0.0

    @model_validator(mode="after")
    def _is_one(self) -> "Arrivals":
        given_names = [name for name in COMING if getattr(self, name) is not None]
        if len(given_names) != 1:
            raise in_words(
                f"give one of {', '.join(COMING)}"
                f" ({' and '.join(given_names) if given_names else 'none of them'} is given)"
            )
        if self.table is not None and (
            beside := sorted(self.model_fields_set & {"pages", "count", "size"})
        ):
            raise in_words(f"a table lists all of its items: leave out {', '.join(beside)}")
        if self.random and self.load is None:
            raise in_words("random requires load: without load, give poisson")
        return self


class NodeGroup(Contract):
    """Equal nodes, whose slots hold one loaded tool and run one job at a time.

    A job takes its time / ``speed`` + ``delay`` ± ``jitter``.

    Attributes:
        count: Number of nodes.
        places: Slots of each node.
        cores: 0 is enough for all.
        ram: Memory in MiB; 0 is enough for all.
        shared: A slot takes what each job needs from its node, as pilots do, and waits if that is
            not free. Otherwise a slot is an equal share of its node.
        joins: When the nodes are there first.
        delay: Drawn once for each node.
        jitter: Uniform, drawn for each job.
        lives: Time until a node dies, with its current jobs.
        away: Time until it is back, with nothing loaded. None means that it stays away.
    """

    name: Name
    count: Annotated[int, Field(ge=1, le=100_000)] = 1
    places: Annotated[int, Field(ge=1, le=MAX_PLACES)] = 1
    speed: Positive = 1.0
    cores: Annotated[float, Field(ge=0.0, le=1e6)] = 0.0
    ram: Annotated[int, Field(ge=0)] = 0
    gpus: Annotated[int, Field(ge=0, le=MAX_GPUS)] = 0
    shared: bool = False
    labels: Labels = Field(default_factory=dict)
    joins: Seconds = 0.0
    delay: Distribution = Distribution(fixed=0.0)
    jitter: Seconds = 0.0
    lives: Distribution | None = None
    away: Distribution | None = None


class Scenario(Contract):
    """A scenario.

    Attributes:
        until: When it ends, whatever is left. Without it, it ends when all items have passed.
    """

    name: Name
    seed: Annotated[int, Field(ge=0)] = 1
    policy: PolicyName = PolicyName.SLUICE
    until: Positive | None = None
    kinds: Annotated[list[KindOfWork], Field(min_length=1, max_length=1_000)]
    pipelines: Annotated[list[Pipeline], Field(min_length=1)]
    arrivals: Annotated[list[Arrivals], Field(min_length=1)]
    nodes: Annotated[list[NodeGroup], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_are_known(self) -> "Scenario":
        for what in ("kinds", "pipelines", "nodes"):
            names = [each.name for each in getattr(self, what)]
            if twice := {name for name in names if names.count(name) > 1}:
                raise in_words(f"{what}: {quoted(sorted(twice)[0])} appears twice")
        kinds = [kind.name for kind in self.kinds]
        for place, pipeline in enumerate(self.pipelines):
            for stage in pipeline.stages:
                if stage not in kinds:
                    raise in_words(
                        f"pipelines.{place} ({pipeline.name}): no kind is called {quoted(stage)}"
                        f" (there are {', '.join(kinds)})"
                    )
        pipelines = [pipeline.name for pipeline in self.pipelines]
        for place, arrivals in enumerate(self.arrivals):
            if arrivals.pipeline not in pipelines:
                raise in_words(
                    f"arrivals.{place}: no pipeline is called {quoted(arrivals.pipeline)}"
                    f" (there are {', '.join(pipelines)})"
                )
        _require_no_cycle(self.pipelines)
        if self.until is None and any(node.lives and not node.away for node in self.nodes):
            raise in_words(
                "nodes that die permanently require until, because no node may be left to finish"
                " the work"
            )
        return self


def _require_no_cycle(pipelines: Sequence[Pipeline]) -> None:
    after = {pipeline.name: pipeline.after for pipeline in pipelines}
    for place, pipeline in enumerate(pipelines):
        where = f"pipelines.{place} ({pipeline.name}): after"
        if unknown := [name for name in pipeline.after if name not in after]:
            raise in_words(
                f"{where}: no pipeline is called {quoted(unknown[0])} (there are"
                f" {', '.join(after)})"
            )
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        raise in_words(
            f"pipelines depend on each other in a cycle: {' after '.join(error.args[1])}"
        ) from error
