"""Numbers of files in data sets that are joined.

Files of several data sets are paired by number (ADR 9), and keep their number from step to step.
So the files of each further source get numbers above those of the sources before it. Each data set
that numbers its files itself has ``STRIDE`` numbers. Such data sets are inputs of the workflow,
outputs of merges, and lists that became data sets. The numbers are known before the workflow runs.
They match as long as both sides join the same data sets in the same order, whatever filters leave
out.

Other runners pair by position. After ``all_non_null`` they count the remaining entries again, so
pairs are the same only if the same entries were left out on both sides.
"""

from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import islice

from sluice.contracts.common.states import TaskMode
from sluice.contracts.templates.plan import STRIDE
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.types import may_be_null
from sluice.cwl.documents.workflow import Link, SourcePort, Step, Workflow

#: The names of the data sets that number the files, in order.
Lineage = tuple[str, ...]
#: Sources of missing entries: a step that may be skipped, or an output that may be missing.
Filters = frozenset[tuple[str, ...]]
_NOTHING: Filters = frozenset()

#: More data sets would need numbers that databases and other languages cannot hold.
MAX_DATA_SETS = 900


@dataclass(slots=True)
class Numbering:
    """The numbering of all data sets of a workflow without cycles.

    Steps are computed in topological order, so that long rows of steps cause no deep recursion.
    """

    workflow: Workflow
    wiring: Wiring
    _order: list[Step] = field(init=False)
    _lineages: dict[SourcePort, Lineage] = field(default_factory=dict)
    _filters_by_source: dict[SourcePort, tuple[Filters, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        upstream_steps: dict[str, set[str]] = {name: set() for name in self.workflow.steps}
        for step_name, _, origin in self.wiring.all_sources():
            if origin.step is not None:
                upstream_steps[step_name].add(origin.step)
        self._order = [
            self.workflow.steps[name] for name in TopologicalSorter(upstream_steps).static_order()
        ]
        for step in self._order:
            for port in step.outputs:
                self._lineage(SourcePort(step.name, port))

    def lineage(self, step: str, link: str) -> Lineage:
        """Return the lineage of all that the link brings.

        The result is cut one above the limit: doubled at each step, it could grow to millions.
        """
        names = (
            name for origin in self.wiring.sources(step, link) for name in self._lineage(origin)
        )
        return tuple(islice(names, MAX_DATA_SETS + 1))

    def pairs_by_position(self, step: Step) -> bool:
        """Return whether the step pairs different inputs of the workflow by position."""
        data = [link for link in step.scatter if self.wiring.is_data(step.name, link)]
        lineages = {self.lineage(step.name, link) for link in data}
        are_inputs = all(len(names) == 1 and names[0].startswith("/") for names in lineages)
        return not step.is_crossproduct and len(lineages) > 1 and are_inputs

    def number_offsets(self, step: str, link: str) -> list[int]:
        """Return the number that is added to the file numbers of each source."""
        offsets, data_set_count = [], 0
        for origin in self.wiring.sources(step, link):
            offsets.append(data_set_count * STRIDE)
            data_set_count += len(self._lineage(origin))
        return offsets

    def _lineage(self, origin: SourcePort) -> Lineage:
        if origin not in self._lineages:
            self._lineages[origin] = self._find_lineage(origin)
        return self._lineages[origin]

    def _find_lineage(self, origin: SourcePort) -> Lineage:
        is_spread = (stream := self.wiring.streams.get(origin)) is not None and stream.spread
        if origin.step is None or is_spread or self.wiring.modes[origin.step] is TaskMode.MERGE:
            return (origin.step or f"/{origin.port}",)
        step = self.workflow.steps[origin.step]
        links = [] if step.is_crossproduct else self._numbering_links(step)
        return (self.lineage(step.name, links[0]) if links else ()) or (step.name,)

    def filters(self, step: Step, link: Link) -> list[Filters]:
        """Return what ``all_non_null`` left out, for each data set of the link's lineage."""
        if not self._filters_by_source:
            for upstream_step in self._order:
                for port in upstream_step.outputs:
                    self._filters(SourcePort(upstream_step.name, port))
        return self._omitted(step, link)

    def _omitted(self, step: Step, link: Link) -> list[Filters]:
        omits_nulls = link.body.get("pickValue") == "all_non_null"
        filters: list[Filters] = []
        for origin in self.wiring.sources(step.name, link.name):
            own = _source_filters(origin, self.workflow) if omits_nulls else _NOTHING
            filters += [
                inherited | own if own else inherited for inherited in self._filters(origin)
            ]
            if len(filters) > MAX_DATA_SETS:
                break
        return filters[: MAX_DATA_SETS + 1]

    def _filters(self, origin: SourcePort) -> tuple[Filters, ...]:
        if origin not in self._filters_by_source:
            lineage = self._lineage(origin)
            is_inherited = origin.step is not None and lineage != (origin.step,)
            step = (
                self.workflow.steps[origin.step]
                if origin.step is not None and is_inherited
                else None
            )
            link_filters = (
                []
                if step is None
                else [self._omitted(step, step.links[name]) for name in self._numbering_links(step)]
            )
            matching_filters = [filters for filters in link_filters if len(filters) == len(lineage)]
            self._filters_by_source[origin] = tuple(
                _NOTHING.union(*(filters[n] for filters in matching_filters))
                for n in range(len(lineage))
            )
        return self._filters_by_source[origin]

    def _numbering_links(self, step: Step) -> list[str]:
        """Return the links whose numbers the outputs of the step get.

        If there are no such data sets, lists of values number the outputs. A step that gives one
        entry has neither.
        """
        data = [name for name in step.scatter if self.wiring.is_data(step.name, name)]
        main = self.wiring.data_links.get(step.name)
        return data or step.scatter or ([] if main is None else [main.name])


def _source_filters(origin: SourcePort, workflow: Workflow) -> Filters:
    if origin.step is None:
        return frozenset()
    step = workflow.steps[origin.step]
    filters: set[tuple[str, ...]] = set()
    if step.conditional:
        filters.add((step.name,))
    if may_be_null(step.tool_outputs[origin.port].type):
        filters.add((step.name, origin.port))
    return frozenset(filters)
