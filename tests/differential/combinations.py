"""Shapes of steps over values and over cross products, like those in `shapes`."""

from hypothesis import strategies as st

from tests.differential.growing_graph import Graph, Stream
from tests.differential.shapes import WORDS, draw_batch, draw_stream
from tests.differential.stream_kinds import has_files
from tests.differential.tools import make_shell_tool, make_tool


def scatter_over_values(draw: st.DrawFn, graph: Graph) -> None:
    """Scatter over values only."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=4, unique=True))
    number = len(graph.steps)
    run = make_tool(
        ["echo"],
        {"word": {"type": "string", "inputBinding": {}}},
        {"o": "stdout"},
        stdout=f"$(inputs.word).t{number}",
    )
    step = {
        "scatter": "word",
        "in": {"word": {"default": words}},
        "run": run,
        **draw_batch(draw),
    }
    graph.add(step, Stream("o", line=number + 1))


def cross_data_with_values(draw: st.DrawFn, graph: Graph) -> None:
    """Scatter over the cross product of a data set and values."""
    number, source = len(graph.steps), draw_stream(draw, graph, has_files)
    words = draw(st.lists(st.sampled_from(WORDS), max_size=2, unique=True))
    run = make_shell_tool(
        'cat "$0"; echo "$1"',
        {"f": "File", "g": "string"},
        {"o": "stdout"},
        "$(inputs.f)",
        "$(inputs.g)",
        stdout=f"$(inputs.f.basename).$(inputs.g).t{number}",
    )
    _add_cross_product(draw, graph, {"f": graph.source(source), "g": {"default": words}}, run)


def cross_data_with_data(draw: st.DrawFn, graph: Graph) -> None:
    """Scatter over the cross product of two data sets, or of a data set with itself."""
    number, first = len(graph.steps), draw_stream(draw, graph, has_files)
    second = draw_stream(draw, graph, has_files)
    run = make_shell_tool(
        'cat "$0" "$1"',
        {"f": "File", "g": "File"},
        {"o": "stdout"},
        "$(inputs.f)",
        "$(inputs.g)",
        stdout=f"$(inputs.f.basename)-$(inputs.g.basename).t{number}",
    )
    _add_cross_product(draw, graph, {"f": graph.source(first), "g": graph.source(second)}, run)


def _add_cross_product(
    draw: st.DrawFn, graph: Graph, inputs: dict[str, object], run: dict[str, object]
) -> None:
    step = {
        "scatter": draw(st.permutations(["f", "g"])),
        "scatterMethod": "flat_crossproduct",
        "in": inputs,
        "run": run,
        **draw_batch(draw),
    }
    graph.add(step, Stream("o", line=len(graph.steps) + 1))
