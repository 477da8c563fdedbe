"""Numbers of files where data sets stand one behind the other.

Files of several data sets are paired by number (ADR 12), and keep their number from step to step. So the files of each further
source get numbers above all those of the sources before it: each data set that numbers its files by itself (an input of the
workflow, what a merge writes, a list that became a data set) has ``STRIDE`` numbers to itself. That needs nothing known at run
time only, and is right whatever a filter leaves out, as long as what is paired was put together of the same data sets in the same
order.
"""

from dataclasses import dataclass, field

from sluice.contracts.plan import STRIDE
from sluice.contracts.states import TaskMode
from sluice.cwl.findings import Findings
from sluice.cwl.links import Wiring
from sluice.cwl.model import Origin, Workflow

#: Names of the data sets that number the files, in order.
Lineage = tuple[str, ...]

#: More would leave the numbers that databases and other languages can hold.
_MOST = 900


@dataclass(slots=True)
class Numbering:
    """Only for wirings without circles."""

    wiring: Wiring
    _known: dict[Origin, Lineage] = field(default_factory=dict)

    def lineage(self, step: str, link: str) -> Lineage:
        """Of all that the link brings."""
        return tuple(name for origin in self.wiring.sources(step, link) for name in self._of(origin))

    def starts(self, step: str, link: str) -> list[int]:
        """What is added to the numbers of each source's files."""
        starts, before = [], 0
        for origin in self.wiring.sources(step, link):
            starts.append(before * STRIDE)
            before += len(self._of(origin))
        return starts

    def _of(self, origin: Origin) -> Lineage:
        if origin not in self._known:
            self._known[origin] = self._find(origin)
        return self._known[origin]

    def _find(self, origin: Origin) -> Lineage:
        spread = (stream := self.wiring.streams.get(origin)) is not None and stream.spread
        if origin.step is None or spread or self.wiring.modes[origin.step] is TaskMode.MERGE:
            return (origin.step or f"/{origin.port}",)
        return self.lineage(origin.step, self.wiring.data_links[origin.step].name)


def check_pairs(workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """What is put together of several data sets can be paired only with what is put together alike."""
    numbering = Numbering(wiring)
    for name, step in workflow.steps.items():
        lineages = {link: numbering.lineage(name, link) for link in step.scatter}
        if not lineages:
            continue
        first, *others = lineages
        if len(lineages[first]) > _MOST:
            findings.error(step.place_of("scatter"), f"step '{name}' scatters over more than {_MOST} data sets")
        for other in others:
            if lineages[other] != lineages[first] and max(len(lineages[other]), len(lineages[first])) > 1:
                findings.error(
                    step.links[other].source_place,
                    f"step '{name}' takes files of the same number of '{first}' and '{other}' together, and these are not put "
                    "together of the same data sets in the same order: give both the sources of the same steps, or pair them in "
                    "a step for each source",
                )
