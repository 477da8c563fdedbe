"""Random templates: graphs of steps as CWL workflows over a data set and a file.

The data set is ``texts``, and the file is ``extra``.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.differential import combinations, shapes
from tests.differential.growing import Graph


@dataclass(frozen=True, slots=True)
class Drawn:
    """A workflow that both runners accept, and the names of its shapes."""

    document: dict[str, Any]
    shapes: list[str]


@st.composite
def graphs(draw: st.DrawFn) -> Drawn:
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
    return Drawn(graph.document(outputs), graph.shapes)


@dataclass(frozen=True, slots=True)
class _Maker:
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


SELDOM = 15
_MAKERS = [
    _Maker(shapes.map_each, [shapes.each_file]),
    _Maker(shapes.stay_loaded, [shapes.each_file], weight=2),
    _Maker(shapes.filter_each, [shapes.each_file]),
    _Maker(shapes.when, [shapes.each_file]),
    _Maker(shapes.pair, [shapes.each_number]),
    _Maker(shapes.merge, [shapes.each_file]),
    _Maker(shapes.merge_perhaps, [shapes.each_file]),
    _Maker(shapes.choose, [shapes.each_file]),
    _Maker(shapes.list_there, [shapes.each_file]),
    _Maker(shapes.merge_behind, [shapes.each_file], least=2, weight=2),
    _Maker(shapes.map_behind, [shapes.each_file], least=2, weight=2),
    _Maker(shapes.nested_over_data, [shapes.each_file]),
    _Maker(shapes.broadcast, [shapes.each_file, shapes.single_file]),
    _Maker(shapes.with_all, [shapes.each_file]),
    _Maker(shapes.two_outputs, [shapes.each_file]),
    _Maker(shapes.value_from, [shapes.each_file]),
    _Maker(shapes.nested, [shapes.each_file]),
    _Maker(shapes.count, [shapes.each_file], weight=2),
    _Maker(shapes.add_up, [shapes.numbers], weight=SELDOM),
    _Maker(shapes.folder, [shapes.each_file], weight=2),
    _Maker(shapes.look_into, [shapes.folders], weight=SELDOM),
    _Maker(shapes.split, [shapes.each_file], weight=2),
    _Maker(shapes.join_parts, [shapes.lists_of_files], weight=SELDOM),
    _Maker(combinations.sweep, []),
    _Maker(combinations.each_with_each, [shapes.each_file], weight=2),
    _Maker(combinations.squared, [shapes.each_file], weight=2, most=1),
]

SHAPES = frozenset(maker.name for maker in _MAKERS)
