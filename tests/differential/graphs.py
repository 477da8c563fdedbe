"""Random templates: graphs of steps as CWL workflows over a data set and a file.

The data set is ``texts``, and the file is ``extra``.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.differential import combinations, shapes, stream_kinds
from tests.differential.growing_graph import Graph


@dataclass(frozen=True, slots=True)
class DrawnWorkflow:
    """A workflow that both runners accept, and the names of its shapes."""

    document: dict[str, Any]
    shapes: list[str]


@st.composite
def draw_workflow(draw: st.DrawFn) -> DrawnWorkflow:
    graph = Graph()
    for _ in range(draw(st.integers(1, 6))):
        maker = draw(
            st.sampled_from(
                [
                    maker
                    for maker in _MAKERS
                    if maker.is_possible(graph)
                    for _ in range(maker.weight)
                ]
            )
        )
        maker.add_steps(draw, graph)
        graph.shapes.append(maker.name)
    outputs = draw(
        st.sets(st.sampled_from([stream.ref for stream in graph.step_outputs]), max_size=2)
    )
    return DrawnWorkflow(graph.build_document(outputs), graph.shapes)


@dataclass(frozen=True, slots=True)
class _ShapeMaker:
    """A shape, which ``accepts`` at least ``min_streams`` streams of each kind.

    A high ``weight`` lets shapes that are seldom possible be drawn more often.
    """

    add_steps: Any
    accepts: Any
    min_streams: int = 1
    weight: int = 1
    #: Maximal number in a graph; None means no bound.
    max_uses: int | None = None

    @property
    def name(self) -> str:
        return str(self.add_steps.__name__)

    def is_possible(self, graph: Graph) -> bool:
        if self.max_uses is not None and graph.shapes.count(self.name) >= self.max_uses:
            return False
        return all(sum(map(accepts, graph.streams)) >= self.min_streams for accepts in self.accepts)


RARE_PERCENT = 15
_MAKERS = [
    _ShapeMaker(shapes.map_each, [stream_kinds.has_files]),
    _ShapeMaker(shapes.map_with_warm_worker, [stream_kinds.has_files], weight=2),
    _ShapeMaker(shapes.filter_each, [stream_kinds.has_files]),
    _ShapeMaker(shapes.run_conditionally, [stream_kinds.has_files]),
    _ShapeMaker(shapes.pair_streams, [stream_kinds.is_list_of_numbers]),
    _ShapeMaker(shapes.merge, [stream_kinds.has_files]),
    _ShapeMaker(shapes.merge_conditionally, [stream_kinds.has_files]),
    _ShapeMaker(shapes.choose_first_result, [stream_kinds.has_files]),
    _ShapeMaker(shapes.list_existing_files, [stream_kinds.has_files]),
    _ShapeMaker(shapes.merge_after_steps, [stream_kinds.has_files], min_streams=2, weight=2),
    _ShapeMaker(shapes.map_after_steps, [stream_kinds.has_files], min_streams=2, weight=2),
    _ShapeMaker(shapes.scatter_nested_workflow, [stream_kinds.has_files]),
    _ShapeMaker(shapes.broadcast, [stream_kinds.has_files, stream_kinds.is_single_file]),
    _ShapeMaker(shapes.map_with_all_files, [stream_kinds.has_files]),
    _ShapeMaker(shapes.add_two_outputs, [stream_kinds.has_files]),
    _ShapeMaker(shapes.compute_value, [stream_kinds.has_files]),
    _ShapeMaker(shapes.add_nested_workflow, [stream_kinds.has_files]),
    _ShapeMaker(shapes.count_lines, [stream_kinds.has_files], weight=2),
    _ShapeMaker(shapes.add_numbers, [stream_kinds.has_numbers], weight=RARE_PERCENT),
    _ShapeMaker(shapes.make_folders, [stream_kinds.has_files], weight=2),
    _ShapeMaker(shapes.list_folders, [stream_kinds.has_folders], weight=RARE_PERCENT),
    _ShapeMaker(shapes.split_files, [stream_kinds.has_files], weight=2),
    _ShapeMaker(shapes.join_parts, [stream_kinds.has_lists_of_files], weight=RARE_PERCENT),
    _ShapeMaker(combinations.scatter_over_values, []),
    _ShapeMaker(combinations.cross_data_with_values, [stream_kinds.has_files], weight=2),
    _ShapeMaker(combinations.cross_data_with_data, [stream_kinds.has_files], weight=2, max_uses=1),
]

SHAPES = frozenset(maker.name for maker in _MAKERS)
