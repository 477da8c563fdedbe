"""Shapes of steps in random templates: each adds one or more steps to a graph."""

from typing import Any

from hypothesis import strategies as st

from tests.differential.growing_graph import Graph, Stream
from tests.differential.stream_kinds import (
    has_files,
    has_folders,
    has_lists_of_files,
    has_numbers,
    is_list_of_numbers,
    is_made_single,
    is_single_file,
)
from tests.differential.tools import (
    join_tool,
    make_shell_tool,
    make_tool,
    make_word_keeping_tool,
    map_tool,
)

#: Commands that a tool applies to a text.
COMMANDS = (
    ["rev"],
    ["sort"],
    ["sort", "-r"],
    ["tr", "a-z", "A-Z"],
    ["head", "-n", "2"],
    ["cat", "-n"],
    ["wc", "-c"],
    ["uniq"],
)
#: Some words are missing in some texts, and one is in no text.
WORDS = ("apple", "e", "Z", "9", "nowhere")


def draw_stream(draw: st.DrawFn, graph: Graph, accepts: Any) -> Stream:
    return draw(st.sampled_from([stream for stream in graph.streams if accepts(stream)]))


def map_each(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_files)
    run = map_tool(draw(st.sampled_from(COMMANDS)), len(graph.steps))
    step = {"scatter": "f", "in": {"f": graph.source(source)}, "run": run, **draw_batch(draw)}
    graph.add(step, Stream("o", line=_find_line(graph, source)))


def map_with_warm_worker(draw: st.DrawFn, graph: Graph) -> None:
    """Map with a warm worker that keeps its first word."""
    source = draw_stream(draw, graph, has_files)
    run = make_word_keeping_tool(len(graph.steps))
    step = {
        "scatter": "f",
        "in": {"f": graph.source(source), "word": {"default": draw(st.sampled_from(WORDS))}},
        "run": run,
        "sluice:warm": {"key": ["word"], "jobs": draw(st.sampled_from([1, 2, 1000]))},
        **draw_batch(draw),
    }
    graph.add(step, Stream("o", line=_find_line(graph, source)))


def _find_line(graph: Graph, source: Stream) -> int:
    """Return the line of a map; without missing files the others are numbered anew."""
    return len(graph.steps) + 1 if source.is_sparse else source.line


def draw_batch(draw: st.DrawFn) -> dict[str, Any]:
    """Batch several files in a job, or not."""
    size = draw(st.sampled_from([0, 0, 0, 2, 4]))
    return {"sluice:batch": {"files": size}} if size else {}


def filter_each(draw: st.DrawFn, graph: Graph) -> None:
    source, word = draw_stream(draw, graph, has_files), draw(st.sampled_from(WORDS))
    name = f"$(inputs.f.nameroot).t{len(graph.steps)}"
    output = {"type": "File?", "outputBinding": {"glob": name}}
    run = make_shell_tool(
        f'grep -q {word} "$0" && cat "$0" > "$1"; true',
        {"f": "File"},
        {"o": output},
        "$(inputs.f)",
        name,
    )
    step = {"scatter": "f", "in": {"f": graph.source(source)}, "run": run, **draw_batch(draw)}
    graph.add(step, Stream("o", is_sparse=True, line=_find_line(graph, source)))


def run_conditionally(draw: st.DrawFn, graph: Graph) -> None:
    source, size = draw_stream(draw, graph, has_files), draw(st.integers(0, 30))
    run = map_tool(draw(st.sampled_from(COMMANDS)), len(graph.steps))
    step = {
        "scatter": "f",
        "when": f"$(inputs.f.size > {size})",
        "in": {"f": graph.source(source)},
        "run": run,
    }
    graph.add(step, Stream("o", is_sparse=True, line=_find_line(graph, source)))


def pair_streams(draw: st.DrawFn, graph: Graph) -> None:
    first = draw_stream(draw, graph, is_list_of_numbers)
    second = draw_stream(draw, graph, lambda each: has_files(each) and each.line == first.line)
    inputs = {
        "f": {"type": "File", "inputBinding": {"position": 1}},
        "g": {"type": "File?", "inputBinding": {"position": 2}},
    }
    run = make_tool(
        ["cat"], inputs, {"o": "stdout"}, stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}"
    )
    step_inputs = {"f": graph.source(first), "g": graph.source(second, together=True)}
    graph.add(
        {"scatter": ["f", "g"], "scatterMethod": "dotproduct", "in": step_inputs, "run": run},
        Stream("o", line=first.line),
    )


def merge(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_files)
    run = join_tool(f"all.t{len(graph.steps)}")
    graph.add(
        {"in": {"fs": graph.source(source)}, "run": run, **_draw_levels(draw)},
        Stream("o", is_list=False),
    )


def _draw_levels(draw: st.DrawFn) -> dict[str, Any]:
    """Merge as a tree, or not."""
    size = draw(st.sampled_from([0, 0, 2, 3]))
    return {"sluice:merge": {"files": size, "tree": True}} if size else {}


def merge_conditionally(draw: st.DrawFn, graph: Graph) -> None:
    source, least = draw_stream(draw, graph, has_files), draw(st.integers(0, 6))
    run = join_tool(f"all.t{len(graph.steps)}")
    step = {
        "when": f"$(inputs.fs.length >= {least})",
        "in": {"fs": graph.source(source)},
        "run": run,
    }
    graph.add(step, Stream("o", is_list=False, is_sparse=True))


def choose_first_result(draw: st.DrawFn, graph: Graph) -> None:
    merge_conditionally(draw, graph)
    merge(draw, graph)
    chosen = graph.sources(graph.streams[-2:], pickValue="first_non_null")
    run = make_tool(
        ["rev"],
        {"f": "File"},
        {"o": "stdout"},
        stdin="$(inputs.f.path)",
        stdout=f"chosen.t{len(graph.steps)}",
    )
    graph.add({"in": {"f": chosen}, "run": run}, Stream("o", is_list=False))


def list_existing_files(draw: st.DrawFn, graph: Graph) -> None:
    merge_conditionally(draw, graph)
    merge_conditionally(draw, graph)
    existing_files = draw(
        st.permutations([stream for stream in graph.streams if is_made_single(stream)])
    )[:3]
    run = join_tool(f"there.t{len(graph.steps)}")
    inputs = {"fs": graph.sources(existing_files, pickValue="all_non_null")}
    graph.add({"in": inputs, "run": run, **_draw_levels(draw)}, Stream("o", is_list=False))


def _draw_following_streams(draw: st.DrawFn, graph: Graph) -> dict[str, Any]:
    streams = draw(st.permutations([stream for stream in graph.streams if has_files(stream)]))[:2]
    picked = {"pickValue": "all_non_null"} if any(stream.is_sparse for stream in streams) else {}
    return graph.sources(streams, linkMerge="merge_flattened", **picked)


def merge_after_steps(draw: st.DrawFn, graph: Graph) -> None:
    run = join_tool(f"all.t{len(graph.steps)}")
    graph.add(
        {"in": {"fs": _draw_following_streams(draw, graph)}, "run": run, **_draw_levels(draw)},
        Stream("o", is_list=False),
    )


def map_after_steps(draw: st.DrawFn, graph: Graph) -> None:
    number = len(graph.steps)
    run = {
        **map_tool(draw(st.sampled_from(COMMANDS)), number),
        "stdout": f"$(inputs.f.basename).t{number}",
    }
    graph.add(
        {"scatter": "f", "in": {"f": _draw_following_streams(draw, graph)}, "run": run},
        Stream("o", line=number + 1),
    )


def scatter_nested_workflow(draw: st.DrawFn, graph: Graph) -> None:
    source, number = draw_stream(draw, graph, has_files), len(graph.steps)
    inner = {
        "class": "Workflow",
        "inputs": {"files": "File[]"},
        "outputs": {
            "cut": {"type": "File[]", "outputSource": "cut/o"},
            "page": {"type": "File", "outputSource": "join/o"},
        },
        "steps": {
            "join": {"in": {"fs": "cut/o"}, "out": ["o"], "run": join_tool(f"page.t{number}")},
            "cut": {
                "scatter": "f",
                "in": {"f": "files"},
                "out": ["o"],
                "run": map_tool(draw(st.sampled_from(COMMANDS)), number),
            },
        },
    }
    step = {"in": {"files": graph.source(source)}, "run": inner}
    graph.add(step, Stream("cut", line=_find_line(graph, source)), Stream("page", is_list=False))


def broadcast(draw: st.DrawFn, graph: Graph) -> None:
    source, shared = (draw_stream(draw, graph, has_files), draw_stream(draw, graph, is_single_file))
    inputs = {
        "g": {"type": "File", "inputBinding": {"position": 1}},
        "f": {"type": "File", "inputBinding": {"position": 2}},
    }
    run = make_tool(
        ["cat"], inputs, {"o": "stdout"}, stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}"
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source), "g": graph.source(shared)}, "run": run},
        Stream("o", line=_find_line(graph, source)),
    )


def map_with_all_files(draw: st.DrawFn, graph: Graph) -> None:
    source, all_files = (draw_stream(draw, graph, has_files), draw_stream(draw, graph, has_files))
    script = 'f=$0; cat "$f"; cat "$@" /dev/null | wc -l'
    run = make_shell_tool(
        script,
        {"f": "File", "all": "File[]"},
        {"o": "stdout"},
        "$(inputs.f)",
        "$(inputs.all)",
        stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}",
    )
    graph.add(
        {
            "scatter": "f",
            "in": {"f": graph.source(source), "all": graph.source(all_files)},
            "run": run,
        },
        Stream("o", line=_find_line(graph, source)),
    )


def add_two_outputs(draw: st.DrawFn, graph: Graph) -> None:
    source, number = draw_stream(draw, graph, has_files), len(graph.steps)
    names = {port: f"$(inputs.f.nameroot).{port}{number}" for port in ("head", "tail")}
    outputs = {
        port: {"type": "File", "outputBinding": {"glob": name}} for port, name in names.items()
    }
    run = make_shell_tool(
        'head -n1 "$0" > "$1"; tail -n1 "$0" > "$2"',
        {"f": "File"},
        outputs,
        "$(inputs.f)",
        *names.values(),
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("head", line=_find_line(graph, source)),
        Stream("tail", line=_find_line(graph, source)),
    )


def compute_value(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_files)
    step_inputs = {
        "f": graph.source(source),
        "name": {"valueFrom": "$(inputs.f.nameroot) of $(inputs.f.size)"},
    }
    inputs = {"name": {"type": "string", "inputBinding": {}}, "f": "File"}
    run = make_tool(
        ["echo"], inputs, {"o": "stdout"}, stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}"
    )
    graph.add(
        {"scatter": "f", "in": step_inputs, "run": run}, Stream("o", line=_find_line(graph, source))
    )


def add_nested_workflow(draw: st.DrawFn, graph: Graph) -> None:
    source, number = draw_stream(draw, graph, has_files), len(graph.steps)
    first, second = (map_tool(draw(st.sampled_from(COMMANDS)), number) for _ in range(2))
    inner = {
        "class": "Workflow",
        "inputs": {"f": "File"},
        "outputs": {"o": {"type": "File", "outputSource": "b/o"}},
        "steps": {
            "a": {"in": {"f": "f"}, "out": ["o"], "run": first},
            "b": {"in": {"f": "a/o"}, "out": ["o"], "run": second},
        },
    }
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": inner},
        Stream("o", line=_find_line(graph, source)),
    )


def count_lines(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_files)
    output = {
        "type": "int",
        "outputBinding": {
            "glob": "n",
            "loadContents": True,
            "outputEval": "$(parseInt(self[0].contents))",
        },
    }
    run = make_tool(
        ["wc", "-l"], {"f": "File"}, {"o": output}, stdin="$(inputs.f.path)", stdout="n"
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("o", kind="int", line=_find_line(graph, source)),
    )


def add_numbers(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_numbers)
    inputs = {"n": {"type": "int[]", "inputBinding": {}}}
    run = make_tool(["echo"], inputs, {"o": "stdout"}, stdout=f"sum.t{len(graph.steps)}")
    graph.add({"in": {"n": graph.source(source)}, "run": run}, Stream("o", is_list=False))


def make_folders(draw: st.DrawFn, graph: Graph) -> None:
    """Make a directory for each file; cwltool cannot output two of the same name."""
    source = draw_stream(
        draw, graph, lambda stream: has_files(stream) and not stream.has_equal_files
    )
    name = f"$(inputs.f.nameroot).t{len(graph.steps)}"
    output = {"type": "Directory", "outputBinding": {"glob": name}}
    run = make_shell_tool(
        'mkdir -p "$1/deep"; cp "$0" "$1/deep/own"',
        {"f": "File"},
        {"o": output},
        "$(inputs.f)",
        name,
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("o", kind="folder", line=_find_line(graph, source)),
    )


def list_folders(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_folders)
    run = make_shell_tool(
        'cat "$0/deep/own"; ls "$0"',
        {"d": "Directory"},
        {"o": "stdout"},
        "$(inputs.d.path)",
        stdout=f"$(inputs.d.basename).u{len(graph.steps)}",
    )
    graph.add(
        {"scatter": "d", "in": {"d": graph.source(source)}, "run": run},
        Stream("o", line=source.line),
    )


def split_files(draw: st.DrawFn, graph: Graph) -> None:
    source, number = draw_stream(draw, graph, has_files), len(graph.steps)
    stem = f"$(inputs.f.nameroot).p{number}"
    output = {"type": "File[]", "outputBinding": {"glob": f"{stem}.*"}}
    run = make_shell_tool(
        'i=0; while read -r l && [ $i -lt 3 ]; do i=$((i+1)); echo "$l" > "$1.$i"; done < "$0"',
        {"f": "File"},
        {"o": output},
        "$(inputs.f)",
        stem,
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("o", kind="files", line=_find_line(graph, source)),
    )


def join_parts(draw: st.DrawFn, graph: Graph) -> None:
    source = draw_stream(draw, graph, has_lists_of_files)
    run = join_tool(f"$(inputs.fs.length).t{len(graph.steps)}")
    graph.add(
        {"scatter": "fs", "in": {"fs": graph.source(source)}, "run": run},
        Stream("o", line=source.line, has_equal_files=True),
    )
