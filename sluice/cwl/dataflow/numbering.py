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
#: What leaves entries out: a step that may be skipped, or an output that may be missing.
Filters = frozenset[tuple[str, ...]]
_NOTHING: Filters = frozenset()

#: More data sets would need numbers that databases and other languages cannot hold.
MAX_DATA_SETS = 900


@dataclass(slots=True)
class Numbering:
    """The numbering of all data sets of a workflow without cycles.

    Steps are computed in topological order, so long rows of steps do not cause deep recursion.
    """

    workflow: Workflow
    wiring: Wiring
    _order: list[Step] = field(init=False)
    _known: dict[SourcePort, Lineage] = field(default_factory=dict)
    _filtered: dict[SourcePort, tuple[Filters, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reads: dict[str, set[str]] = {name: set() for name in self.workflow.steps}
        for reader, _, origin in self.wiring.all_sources():
            if origin.step is not None:
                reads[reader].add(origin.step)
        self._order = [
            self.workflow.steps[name] for name in TopologicalSorter(reads).static_order()
        ]
        for step in self._order:
            for port in step.outputs:
                self._of(SourcePort(step.name, port))

    def lineage(self, step: str, link: str) -> Lineage:
        """Return the lineage of all that the link brings.

        The result is cut one above the limit: doubled at each step, it could grow to millions.
        """
        names = (name for origin in self.wiring.sources(step, link) for name in self._of(origin))
        return tuple(islice(names, MAX_DATA_SETS + 1))

    def by_place(self, step: Step) -> bool:
        """Return whether the step pairs different inputs of the workflow by position."""
        data = [link for link in step.scatter if self.wiring.is_data(step.name, link)]
        found = {self.lineage(step.name, link) for link in data}
        roots = all(len(names) == 1 and names[0].startswith("/") for names in found)
        return not step.crosses and len(found) > 1 and roots

    def starts(self, step: str, link: str) -> list[int]:
        """Return what is added to the file numbers of each source."""
        starts, before = [], 0
        for origin in self.wiring.sources(step, link):
            starts.append(before * STRIDE)
            before += len(self._of(origin))
        return starts

    def _of(self, origin: SourcePort) -> Lineage:
        if origin not in self._known:
            self._known[origin] = self._find(origin)
        return self._known[origin]

    def _find(self, origin: SourcePort) -> Lineage:
        spread = (stream := self.wiring.streams.get(origin)) is not None and stream.spread
        if origin.step is None or spread or self.wiring.modes[origin.step] is TaskMode.MERGE:
            return (origin.step or f"/{origin.port}",)
        step = self.workflow.steps[origin.step]
        counted = [] if step.crosses else self._counted(step)
        return (self.lineage(step.name, counted[0]) if counted else ()) or (step.name,)

    def filters(self, step: Step, link: Link) -> list[Filters]:
        """Return what ``all_non_null`` left out, for each data set of the link's lineage."""
        if not self._filtered:
            for before in self._order:
                for port in before.outputs:
                    self._filters(SourcePort(before.name, port))
        return self._left_out(step, link)

    def _left_out(self, step: Step, link: Link) -> list[Filters]:
        chosen = link.body.get("pickValue") == "all_non_null"
        found: list[Filters] = []
        for origin in self.wiring.sources(step.name, link.name):
            own = _filters_of(origin, self.workflow) if chosen else _NOTHING
            found += [before | own if own else before for before in self._filters(origin)]
            if len(found) > MAX_DATA_SETS:
                break
        return found[: MAX_DATA_SETS + 1]

    def _filters(self, origin: SourcePort) -> tuple[Filters, ...]:
        if origin not in self._filtered:
            lineage = self._of(origin)
            inherited = origin.step is not None and lineage != (origin.step,)
            step = (
                self.workflow.steps[origin.step] if origin.step is not None and inherited else None
            )
            every = (
                []
                if step is None
                else [self._left_out(step, step.links[name]) for name in self._counted(step)]
            )
            alike = [filters for filters in every if len(filters) == len(lineage)]
            self._filtered[origin] = tuple(
                _NOTHING.union(*(filters[n] for filters in alike)) for n in range(len(lineage))
            )
        return self._filtered[origin]

    def _counted(self, step: Step) -> list[str]:
        """Return the links whose numbers the outputs of the step get.

        If there are no such data sets, lists of values number the outputs. A step that gives one
        entry has neither.
        """
        data = [name for name in step.scatter if self.wiring.is_data(step.name, name)]
        main = self.wiring.data_links.get(step.name)
        return data or step.scatter or ([] if main is None else [main.name])


def _filters_of(origin: SourcePort, workflow: Workflow) -> Filters:
    if origin.step is None:
        return frozenset()
    step = workflow.steps[origin.step]
    found: set[tuple[str, ...]] = set()
    if step.conditional:
        found.add((step.name,))
    if may_be_null(step.tool_outputs[origin.port].type):
        found.add((step.name, origin.port))
    return frozenset(found)
