"""Random templates: graphs of steps as CWL workflows over a data set and a file.

The data set is ``texts``, and the file is ``extra``.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.differential import combinations, shapes
from tests.differential.growing_graph import Graph


@dataclass(frozen=True, slots=True)
class DrawnWorkflow:
    """A workflow that both runners accept, and the names of its shapes."""

    document: dict[str, Any]
    shapes: list[str]


@st.composite
def graphs(draw: st.DrawFn) -> DrawnWorkflow:
    graph = Graph()
    for _ in range(draw(st.integers(1, 6))):
        maker = draw(
            st.sampled_from(
                [maker for maker in _MAKERS if maker.possible(graph) for _ in range(maker.weight)]
            )
        )
        maker.make(draw, graph)
        graph.shapes.append(maker.name)
    outputs = draw(
        st.sets(st.sampled_from([stream.ref for stream in graph.step_outputs]), max_size=2)
    )
    return DrawnWorkflow(graph.document(outputs), graph.shapes)


@dataclass(frozen=True, slots=True)
class _ShapeMaker:
    """A shape, which ``needs`` at least ``least`` streams of each kind.

    A high ``weight`` lets shapes that are seldom possible be drawn more often.
    """

    make: Any
    needs: Any
    least: int = 1
    weight: int = 1
    #: Maximal number in a graph; None means no bound.
    most: int | None = None

    @property
    def name(self) -> str:
        return str(self.make.__name__)

    def possible(self, graph: Graph) -> bool:
        if self.most is not None and graph.shapes.count(self.name) >= self.most:
            return False
        return all(sum(map(accepts, graph.streams)) >= self.least for accepts in self.needs)


RARE_PERCENT = 15
_MAKERS = [
    _ShapeMaker(shapes.map_each, [shapes.each_file]),
    _ShapeMaker(shapes.stay_loaded, [shapes.each_file], weight=2),
    _ShapeMaker(shapes.filter_each, [shapes.each_file]),
    _ShapeMaker(shapes.when, [shapes.each_file]),
    _ShapeMaker(shapes.pair, [shapes.each_number]),
    _ShapeMaker(shapes.merge, [shapes.each_file]),
    _ShapeMaker(shapes.merge_perhaps, [shapes.each_file]),
    _ShapeMaker(shapes.choose, [shapes.each_file]),
    _ShapeMaker(shapes.list_there, [shapes.each_file]),
    _ShapeMaker(shapes.merge_behind, [shapes.each_file], least=2, weight=2),
    _ShapeMaker(shapes.map_behind, [shapes.each_file], least=2, weight=2),
    _ShapeMaker(shapes.nested_over_data, [shapes.each_file]),
    _ShapeMaker(shapes.broadcast, [shapes.each_file, shapes.single_file]),
    _ShapeMaker(shapes.with_all, [shapes.each_file]),
    _ShapeMaker(shapes.two_outputs, [shapes.each_file]),
    _ShapeMaker(shapes.value_from, [shapes.each_file]),
    _ShapeMaker(shapes.nested, [shapes.each_file]),
    _ShapeMaker(shapes.count, [shapes.each_file], weight=2),
    _ShapeMaker(shapes.add_up, [shapes.numbers], weight=RARE_PERCENT),
    _ShapeMaker(shapes.folder, [shapes.each_file], weight=2),
    _ShapeMaker(shapes.look_into, [shapes.folders], weight=RARE_PERCENT),
    _ShapeMaker(shapes.split, [shapes.each_file], weight=2),
    _ShapeMaker(shapes.join_parts, [shapes.lists_of_files], weight=RARE_PERCENT),
    _ShapeMaker(combinations.sweep, []),
    _ShapeMaker(combinations.each_with_each, [shapes.each_file], weight=2),
    _ShapeMaker(combinations.squared, [shapes.each_file], weight=2, most=1),
]

SHAPES = frozenset(maker.name for maker in _MAKERS)
