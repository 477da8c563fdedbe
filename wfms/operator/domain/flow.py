"""A plan as a drawing: where the boxes and the lines between them stand. By the data set that makes each step's jobs, the drawing
is a tree that grows to the right: the data set, the steps, and in the last column what the workflow gives. Further data sets that
a step reads are lines to it; it stands to the right of all that it reads."""

from dataclasses import dataclass
from enum import StrEnum

from sluice.contracts.plan import MergeGroups, Plan, PlanStep
from sluice.contracts.states import TaskMode

WIDTH, HEIGHT = 148, 64
GAP_X, GAP_Y = 28, 20
MARGIN = 8
_LABEL = 17


class NodeKind(StrEnum):
    INPUT = "input"
    STEP = "step"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Node:
    """``x`` and ``y`` of the upper left corner, in pixels. ``label`` is cut to the box, ``name`` is whole."""

    kind: NodeKind
    name: str
    label: str
    detail: str
    mode: TaskMode | None
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Edge:
    """``path``: an SVG path. ``port``: the output that flows along it."""

    path: str
    port: str


@dataclass(frozen=True, slots=True)
class Drawing:
    width: float
    height: float
    nodes: list[Node]
    edges: list[Edge]


def draw(plan: Plan) -> Drawing:
    """Steps in document order from top to bottom; a parent stands in the middle of its children."""
    return _Tree(plan).draw()


@dataclass(slots=True)
class _Branch:
    kind: NodeKind
    name: str
    port: str
    step: PlanStep | None
    column: int
    row: float = 0.0


class _Tree:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._next_row = 0
        self._branches: list[_Branch] = []
        self._lines: list[tuple[_Branch, _Branch, str]] = []
        self._columns: dict[str, int] = {}
        self._last = 0

    def draw(self) -> Drawing:
        self._grow(_Branch(NodeKind.INPUT, self._plan.data_input, self._plan.data_input, None, 0))
        for branch in self._branches:
            self._side_lines(branch)
        self._last = max(branch.column for branch in self._branches)
        for branch in self._branches:
            if branch.kind is NodeKind.OUTPUT:
                branch.column = self._last
        return Drawing(
            width=2 * MARGIN + (self._last + 1) * WIDTH + self._last * GAP_X,
            height=2 * MARGIN + max(self._next_row, 1) * (HEIGHT + GAP_Y) - GAP_Y,
            nodes=[_node(branch) for branch in self._branches],
            edges=[_edge(parent, child, port) for parent, child, port in self._lines],
        )

    def _grow(self, branch: _Branch) -> None:
        self._branches.append(branch)
        children = self._children(branch)
        for child in children:
            self._lines.append((branch, child, child.port))
            self._grow(child)
        if children:
            branch.row = (children[0].row + children[-1].row) / 2
        else:
            branch.row = float(self._next_row)
            self._next_row += 1

    def _children(self, branch: _Branch) -> list[_Branch]:
        reads = None if branch.kind is NodeKind.INPUT else branch.name
        steps = [
            _Branch(NodeKind.STEP, step.name, step.source.port, step, self._column(step))
            for step in self._plan.steps
            if branch.kind is not NodeKind.OUTPUT and step.source.step == reads
        ]
        outputs = [
            _Branch(NodeKind.OUTPUT, output.name, output.port, None, branch.column + 1)
            for output in self._plan.outputs
            if branch.kind is NodeKind.STEP and output.step == branch.name
        ]
        return steps + outputs

    def _column(self, step: PlanStep) -> int:
        """One to the right of the last step that it reads."""
        if step.name not in self._columns:
            before = [0 if source.step is None else self._column(self._plan.step(source.step)) for source in step.sources]
            self._columns[step.name] = 1 + max(before)
        return self._columns[step.name]

    def _side_lines(self, branch: _Branch) -> None:
        writers = [one for one in self._branches if one.kind is not NodeKind.OUTPUT]
        by_name = {None if one.kind is NodeKind.INPUT else one.name: one for one in writers}
        step = branch.step
        further = (
            []
            if step is None
            else [*(one.source for one in step.next_sources), *(s for x in step.side_inputs for s in x.sources)]
        )
        for source in further:
            self._lines.append((by_name[source.step], branch, source.port))


def _node(branch: _Branch) -> Node:
    name = branch.name
    return Node(
        kind=branch.kind,
        name=name,
        label=name if len(name) <= _LABEL else name[: _LABEL - 1] + "…",
        detail=_detail(branch),
        mode=None if branch.step is None else branch.step.mode,
        x=MARGIN + branch.column * (WIDTH + GAP_X),
        y=MARGIN + branch.row * (HEIGHT + GAP_Y),
    )


def _detail(branch: _Branch) -> str:
    if branch.step is None:
        return "data set" if branch.kind is NodeKind.INPUT else "output"
    if branch.step.single:
        return "one job"
    return "file by file" if branch.step.mode is TaskMode.MAP else groups_of(branch.step.groups)


def groups_of(groups: MergeGroups) -> str:
    """How a merge step's files are grouped, in a few words."""
    if groups.files is not None:
        return f"{groups.files} files a job"
    if groups.bytes is not None:
        return f"{groups.bytes / 1e6:g} MB a job"
    return "all files in one job"


def _edge(parent: _Branch, child: _Branch, port: str) -> Edge:
    x1 = MARGIN + parent.column * (WIDTH + GAP_X) + WIDTH
    y1 = MARGIN + parent.row * (HEIGHT + GAP_Y) + HEIGHT / 2
    y2 = MARGIN + child.row * (HEIGHT + GAP_Y) + HEIGHT / 2
    x2 = MARGIN + child.column * (WIDTH + GAP_X)
    turn = x1 + GAP_X
    middle = x1 + GAP_X / 2
    return Edge(f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {turn:g} {y2:g}H{x2:g}", port)
