"""The layout of the drawing of a plan.

The drawing is a tree that grows to the right: the data set, the steps by their main input, and
the outputs of the workflow in the last column. Further inputs of a step are additional lines. A
step stands to the right of all its inputs.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import TopologicalSorter

from sluice.contracts.common.numbers import format_count, in_full
from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.templates.plan import MergeGroups, Plan, PlanOutput, PlanStep

WIDTH, HEIGHT = 148, 64
GAP_X, GAP_Y = 28, 20
MARGIN = 8
_LABEL = 17
#: The label of the first box if there is no data set.
VALUES = "parameters"


class NodeKind(StrEnum):
    """The kind of a box."""

    INPUT = "input"
    STEP = "step"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class FlowNode:
    """A box with its upper left corner in pixels; ``label`` is the shortened name."""

    kind: NodeKind
    name: str
    label: str
    detail: str
    mode: TaskMode | None
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A line as an SVG path, with the output port that it shows."""

    path: str
    port: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing, with sizes in pixels."""

    width: float
    height: float
    nodes: list[FlowNode]
    edges: list[Edge]


def draw(plan: Plan) -> Drawing:
    """Return the drawing: steps in document order, parents centred beside their children."""
    return _Tree(plan).draw()


@dataclass(slots=True)
class _Branch:
    kind: NodeKind
    name: str
    port: str
    step: PlanStep | None
    column: int
    #: The text below the name; empty for the default.
    detail: str = ""
    row: float = 0.0
    children: list["_Branch"] = field(default_factory=list)


class _Tree:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._next_row = 0
        self._branches: list[_Branch] = []
        self._lines: list[tuple[_Branch, _Branch, str]] = []
        self._columns = _compute_columns(plan)
        self._last = 0

    def draw(self) -> Drawing:
        """Return the drawing of the plan."""
        first = self._plan.data_input
        of_slices = "new files" if first and self._plan.trigger is not None else ""
        self._grow(_Branch(NodeKind.INPUT, first or VALUES, first, None, 0, of_slices))
        self._add_side_lines()
        self._last = max(branch.column for branch in self._branches)
        for branch in self._branches:
            if branch.kind is NodeKind.OUTPUT:
                branch.column = self._last
        return Drawing(
            width=2 * MARGIN + (self._last + 1) * WIDTH + self._last * GAP_X,
            height=2 * MARGIN + max(self._next_row, 1) * (HEIGHT + GAP_Y) - GAP_Y,
            nodes=[_build_node(branch) for branch in self._branches],
            edges=[_draw_edge(parent, child, port) for parent, child, port in self._lines],
        )

    def _grow(self, root: _Branch) -> None:
        """Create the branches iteratively, because long plans would exceed the recursion limit."""
        steps: dict[str | None, list[PlanStep]] = {}
        for step in self._plan.steps:
            steps.setdefault(step.main_input.source.step, []).append(step)
        outputs: dict[str, list[PlanOutput]] = {}
        for output in self._plan.outputs:
            outputs.setdefault(output.step, []).append(output)
        ahead = [root]
        while ahead:
            branch = ahead.pop()
            self._branches.append(branch)
            if branch.kind is NodeKind.OUTPUT:
                continue
            name = None if branch.kind is NodeKind.INPUT else branch.name
            branch.children = [
                *(
                    _Branch(
                        NodeKind.STEP,
                        downstream.name,
                        downstream.main_input.source.port,
                        downstream,
                        self._columns[downstream.name],
                    )
                    for downstream in steps.get(name, ())
                ),
                *(
                    _Branch(
                        NodeKind.OUTPUT,
                        output.name,
                        output.port,
                        None,
                        branch.column + 1,
                        "" if output.collect is None else _cut(f"into {output.collect.name}"),
                    )
                    for output in (outputs.get(name, ()) if name is not None else ())
                ),
            ]
            self._lines += [(branch, child, child.port) for child in branch.children]
            ahead += reversed(branch.children)
        self._place_rows()

    def _place_rows(self) -> None:
        for branch in self._branches:  # leaves, from top to bottom
            if not branch.children:
                branch.row = float(self._next_row)
                self._next_row += 1
        for branch in reversed(self._branches):  # children come after their parents
            if branch.children:
                branch.row = (branch.children[0].row + branch.children[-1].row) / 2

    def _add_side_lines(self) -> None:
        by_name = {
            None if branch.kind is NodeKind.INPUT else branch.name: branch
            for branch in self._branches
            if branch.kind is not NodeKind.OUTPUT
        }
        for branch in self._branches:
            step = branch.step
            if step is not None:
                # The line from the parent shows the first source.
                self._lines += [
                    (by_name[source.step], branch, source.port) for source in step.sources[1:]
                ]


def _compute_columns(plan: Plan) -> dict[str, int]:
    """Return the column of each step: one to the right of its last input."""
    reads = {
        step.name: {source.step for source in step.sources if source.step is not None}
        for step in plan.steps
    }
    columns: dict[str, int] = {}
    for name in TopologicalSorter(reads).static_order():
        columns[name] = 1 + max((columns[before] for before in reads[name]), default=0)
    return columns


def _build_node(branch: _Branch) -> FlowNode:
    name = branch.name
    return FlowNode(
        kind=branch.kind,
        name=name,
        label=_cut(name),
        detail=_describe_branch(branch),
        mode=None if branch.step is None else branch.step.mode,
        x=MARGIN + branch.column * (WIDTH + GAP_X),
        y=MARGIN + branch.row * (HEIGHT + GAP_Y),
    )


def _cut(text: str) -> str:
    """Return the text, shortened to the width of a box."""
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def _describe_branch(branch: _Branch) -> str:
    if branch.detail:
        return branch.detail
    if branch.step is None:
        of_input = "data set" if branch.port else "no data set"
        return "output" if branch.kind is NodeKind.OUTPUT else of_input
    if branch.step.single or branch.step.needs.ask is not None:
        return "one job" if branch.step.needs.ask is None else "people are asked"
    if branch.step.cross:
        return "each with each"
    if branch.step.main_input.mode is InputMode.NONE:
        return "value by value"
    return (
        "file by file" if branch.step.mode is TaskMode.MAP else describe_groups(branch.step.groups)
    )


def describe_groups(groups: MergeGroups) -> str:
    """Return how the files of a merge step are grouped, in a few words."""
    if groups.files is not None:
        return f"{format_count(groups.files, 'file')} a job"
    if groups.bytes is not None:
        return f"{in_full(groups.bytes / 1e6)} MB a job"
    return "all files in one job"


def _draw_edge(parent: _Branch, child: _Branch, port: str) -> Edge:
    x1 = MARGIN + parent.column * (WIDTH + GAP_X) + WIDTH
    y1 = MARGIN + parent.row * (HEIGHT + GAP_Y) + HEIGHT / 2
    y2 = MARGIN + child.row * (HEIGHT + GAP_Y) + HEIGHT / 2
    x2 = MARGIN + child.column * (WIDTH + GAP_X)
    turn = x1 + GAP_X
    middle = x1 + GAP_X / 2
    return Edge(f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {turn:g} {y2:g}H{x2:g}", port)
