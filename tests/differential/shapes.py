"""Shapes of steps in random templates: each adds one or more steps to a graph."""

from typing import Any

from hypothesis import strategies as st

from tests.differential.growing_graph import Graph, Stream
from tests.differential.tools import joining, keeping_word, on_each, shell, tool

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


def each_file(stream: Stream) -> bool:
    return stream.many and stream.kind == "file"


def each_number(stream: Stream) -> bool:
    return each_file(stream) and not stream.sparse


def single_file(stream: Stream) -> bool:
    return not stream.many and stream.kind == "file" and not stream.sparse


def _made_single(stream: Stream) -> bool:
    return not stream.many and stream.kind == "file" and "/" in stream.ref


def numbers(stream: Stream) -> bool:
    return stream.kind == "int"


def folders(stream: Stream) -> bool:
    return stream.kind == "folder"


def lists_of_files(stream: Stream) -> bool:
    return stream.kind == "files"


def pick(draw: st.DrawFn, graph: Graph, accepts: Any) -> Stream:
    return draw(st.sampled_from([stream for stream in graph.streams if accepts(stream)]))


def map_each(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, each_file)
    run = on_each(draw(st.sampled_from(COMMANDS)), len(graph.steps))
    step = {"scatter": "f", "in": {"f": graph.source(source)}, "run": run, **batched(draw)}
    graph.add(step, Stream("o", line=_line(graph, source)))


def stay_loaded(draw: st.DrawFn, graph: Graph) -> None:
    """Map with a warm worker that keeps its first word."""
    source = pick(draw, graph, each_file)
    run = keeping_word(len(graph.steps))
    step = {
        "scatter": "f",
        "in": {"f": graph.source(source), "word": {"default": draw(st.sampled_from(WORDS))}},
        "run": run,
        "sluice:warm": {"key": ["word"], "jobs": draw(st.sampled_from([1, 2, 1000]))},
        **batched(draw),
    }
    graph.add(step, Stream("o", line=_line(graph, source)))


def _line(graph: Graph, source: Stream) -> int:
    """Return the line of a map; without missing files the others are numbered anew."""
    return len(graph.steps) + 1 if source.sparse else source.line


def batched(draw: st.DrawFn) -> dict[str, Any]:
    """Batch several files in a job, or not."""
    size = draw(st.sampled_from([0, 0, 0, 2, 4]))
    return {"sluice:batch": {"files": size}} if size else {}


def filter_each(draw: st.DrawFn, graph: Graph) -> None:
    source, word = pick(draw, graph, each_file), draw(st.sampled_from(WORDS))
    name = f"$(inputs.f.nameroot).t{len(graph.steps)}"
    output = {"type": "File?", "outputBinding": {"glob": name}}
    run = shell(
        f'grep -q {word} "$0" && cat "$0" > "$1"; true',
        {"f": "File"},
        {"o": output},
        "$(inputs.f)",
        name,
    )
    step = {"scatter": "f", "in": {"f": graph.source(source)}, "run": run, **batched(draw)}
    graph.add(step, Stream("o", sparse=True, line=_line(graph, source)))


def when(draw: st.DrawFn, graph: Graph) -> None:
    source, size = pick(draw, graph, each_file), draw(st.integers(0, 30))
    run = on_each(draw(st.sampled_from(COMMANDS)), len(graph.steps))
    step = {
        "scatter": "f",
        "when": f"$(inputs.f.size > {size})",
        "in": {"f": graph.source(source)},
        "run": run,
    }
    graph.add(step, Stream("o", sparse=True, line=_line(graph, source)))


def pair(draw: st.DrawFn, graph: Graph) -> None:
    first = pick(draw, graph, each_number)
    second = pick(draw, graph, lambda stream: each_file(stream) and stream.line == first.line)
    inputs = {
        "f": {"type": "File", "inputBinding": {"position": 1}},
        "g": {"type": "File?", "inputBinding": {"position": 2}},
    }
    run = tool(["cat"], inputs, {"o": "stdout"}, stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}")
    step_inputs = {"f": graph.source(first), "g": graph.source(second, together=True)}
    graph.add(
        {"scatter": ["f", "g"], "scatterMethod": "dotproduct", "in": step_inputs, "run": run},
        Stream("o", line=first.line),
    )


def merge(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, each_file)
    run = joining(f"all.t{len(graph.steps)}")
    graph.add(
        {"in": {"fs": graph.source(source)}, "run": run, **_in_levels(draw)},
        Stream("o", many=False),
    )


def _in_levels(draw: st.DrawFn) -> dict[str, Any]:
    """Merge as a tree, or not."""
    size = draw(st.sampled_from([0, 0, 2, 3]))
    return {"sluice:merge": {"files": size, "tree": True}} if size else {}


def merge_perhaps(draw: st.DrawFn, graph: Graph) -> None:
    source, least = pick(draw, graph, each_file), draw(st.integers(0, 6))
    run = joining(f"all.t{len(graph.steps)}")
    step = {
        "when": f"$(inputs.fs.length >= {least})",
        "in": {"fs": graph.source(source)},
        "run": run,
    }
    graph.add(step, Stream("o", many=False, sparse=True))


def choose(draw: st.DrawFn, graph: Graph) -> None:
    merge_perhaps(draw, graph)
    merge(draw, graph)
    chosen = graph.sources(graph.streams[-2:], pickValue="first_non_null")
    run = tool(
        ["rev"],
        {"f": "File"},
        {"o": "stdout"},
        stdin="$(inputs.f.path)",
        stdout=f"chosen.t{len(graph.steps)}",
    )
    graph.add({"in": {"f": chosen}, "run": run}, Stream("o", many=False))


def list_there(draw: st.DrawFn, graph: Graph) -> None:
    merge_perhaps(draw, graph)
    merge_perhaps(draw, graph)
    there = draw(st.permutations([stream for stream in graph.streams if _made_single(stream)]))[:3]
    run = joining(f"there.t{len(graph.steps)}")
    inputs = {"fs": graph.sources(there, pickValue="all_non_null")}
    graph.add({"in": inputs, "run": run, **_in_levels(draw)}, Stream("o", many=False))


def _behind(draw: st.DrawFn, graph: Graph) -> dict[str, Any]:
    streams = draw(st.permutations([stream for stream in graph.streams if each_file(stream)]))[:2]
    picked = {"pickValue": "all_non_null"} if any(stream.sparse for stream in streams) else {}
    return graph.sources(streams, linkMerge="merge_flattened", **picked)


def merge_behind(draw: st.DrawFn, graph: Graph) -> None:
    run = joining(f"all.t{len(graph.steps)}")
    graph.add(
        {"in": {"fs": _behind(draw, graph)}, "run": run, **_in_levels(draw)},
        Stream("o", many=False),
    )


def map_behind(draw: st.DrawFn, graph: Graph) -> None:
    number = len(graph.steps)
    run = {
        **on_each(draw(st.sampled_from(COMMANDS)), number),
        "stdout": f"$(inputs.f.basename).t{number}",
    }
    graph.add(
        {"scatter": "f", "in": {"f": _behind(draw, graph)}, "run": run},
        Stream("o", line=number + 1),
    )


def nested_over_data(draw: st.DrawFn, graph: Graph) -> None:
    source, number = pick(draw, graph, each_file), len(graph.steps)
    inner = {
        "class": "Workflow",
        "inputs": {"files": "File[]"},
        "outputs": {
            "cut": {"type": "File[]", "outputSource": "cut/o"},
            "page": {"type": "File", "outputSource": "join/o"},
        },
        "steps": {
            "join": {"in": {"fs": "cut/o"}, "out": ["o"], "run": joining(f"page.t{number}")},
            "cut": {
                "scatter": "f",
                "in": {"f": "files"},
                "out": ["o"],
                "run": on_each(draw(st.sampled_from(COMMANDS)), number),
            },
        },
    }
    step = {"in": {"files": graph.source(source)}, "run": inner}
    graph.add(step, Stream("cut", line=_line(graph, source)), Stream("page", many=False))


def broadcast(draw: st.DrawFn, graph: Graph) -> None:
    source, shared = pick(draw, graph, each_file), pick(draw, graph, single_file)
    inputs = {
        "g": {"type": "File", "inputBinding": {"position": 1}},
        "f": {"type": "File", "inputBinding": {"position": 2}},
    }
    run = tool(["cat"], inputs, {"o": "stdout"}, stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}")
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source), "g": graph.source(shared)}, "run": run},
        Stream("o", line=_line(graph, source)),
    )


def with_all(draw: st.DrawFn, graph: Graph) -> None:
    source, every = pick(draw, graph, each_file), pick(draw, graph, each_file)
    script = 'f=$0; cat "$f"; cat "$@" /dev/null | wc -l'
    run = shell(
        script,
        {"f": "File", "all": "File[]"},
        {"o": "stdout"},
        "$(inputs.f)",
        "$(inputs.all)",
        stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}",
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source), "all": graph.source(every)}, "run": run},
        Stream("o", line=_line(graph, source)),
    )


def two_outputs(draw: st.DrawFn, graph: Graph) -> None:
    source, number = pick(draw, graph, each_file), len(graph.steps)
    names = {port: f"$(inputs.f.nameroot).{port}{number}" for port in ("head", "tail")}
    outputs = {
        port: {"type": "File", "outputBinding": {"glob": name}} for port, name in names.items()
    }
    run = shell(
        'head -n1 "$0" > "$1"; tail -n1 "$0" > "$2"',
        {"f": "File"},
        outputs,
        "$(inputs.f)",
        *names.values(),
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("head", line=_line(graph, source)),
        Stream("tail", line=_line(graph, source)),
    )


def value_from(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, each_file)
    step_inputs = {
        "f": graph.source(source),
        "name": {"valueFrom": "$(inputs.f.nameroot) of $(inputs.f.size)"},
    }
    inputs = {"name": {"type": "string", "inputBinding": {}}, "f": "File"}
    run = tool(
        ["echo"], inputs, {"o": "stdout"}, stdout=f"$(inputs.f.nameroot).t{len(graph.steps)}"
    )
    graph.add(
        {"scatter": "f", "in": step_inputs, "run": run}, Stream("o", line=_line(graph, source))
    )


def nested(draw: st.DrawFn, graph: Graph) -> None:
    source, number = pick(draw, graph, each_file), len(graph.steps)
    first, second = (on_each(draw(st.sampled_from(COMMANDS)), number) for _ in range(2))
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
        Stream("o", line=_line(graph, source)),
    )


def count(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, each_file)
    output = {
        "type": "int",
        "outputBinding": {
            "glob": "n",
            "loadContents": True,
            "outputEval": "$(parseInt(self[0].contents))",
        },
    }
    run = tool(["wc", "-l"], {"f": "File"}, {"o": output}, stdin="$(inputs.f.path)", stdout="n")
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("o", kind="int", line=_line(graph, source)),
    )


def add_up(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, numbers)
    inputs = {"n": {"type": "int[]", "inputBinding": {}}}
    run = tool(["echo"], inputs, {"o": "stdout"}, stdout=f"sum.t{len(graph.steps)}")
    graph.add({"in": {"n": graph.source(source)}, "run": run}, Stream("o", many=False))


def folder(draw: st.DrawFn, graph: Graph) -> None:
    """Make a directory for each file; cwltool cannot output two of the same name."""
    source = pick(draw, graph, lambda stream: each_file(stream) and not stream.alike)
    name = f"$(inputs.f.nameroot).t{len(graph.steps)}"
    output = {"type": "Directory", "outputBinding": {"glob": name}}
    run = shell(
        'mkdir -p "$1/deep"; cp "$0" "$1/deep/own"',
        {"f": "File"},
        {"o": output},
        "$(inputs.f)",
        name,
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("o", kind="folder", line=_line(graph, source)),
    )


def look_into(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, folders)
    run = shell(
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


def split(draw: st.DrawFn, graph: Graph) -> None:
    source, number = pick(draw, graph, each_file), len(graph.steps)
    stem = f"$(inputs.f.nameroot).p{number}"
    output = {"type": "File[]", "outputBinding": {"glob": f"{stem}.*"}}
    run = shell(
        'i=0; while read -r l && [ $i -lt 3 ]; do i=$((i+1)); echo "$l" > "$1.$i"; done < "$0"',
        {"f": "File"},
        {"o": output},
        "$(inputs.f)",
        stem,
    )
    graph.add(
        {"scatter": "f", "in": {"f": graph.source(source)}, "run": run},
        Stream("o", kind="files", line=_line(graph, source)),
    )


def join_parts(draw: st.DrawFn, graph: Graph) -> None:
    source = pick(draw, graph, lists_of_files)
    run = joining(f"$(inputs.fs.length).t{len(graph.steps)}")
    graph.add(
        {"scatter": "fs", "in": {"fs": graph.source(source)}, "run": run},
        Stream("o", line=source.line, alike=True),
    )
