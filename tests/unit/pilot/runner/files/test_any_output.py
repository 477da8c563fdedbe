"""Tests that any output of a tool is either stored in a readable form or reported as a fault of the
tool, in a real slot process."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.reports import AttemptReport
from sluice.cwl_values import unpack
from tests.draws import count_examples
from tests.unit.pilot.attempts import get_error, make_python_tool, run
from tests.unit.pilot.builders import make_output, make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.files.written_outputs import make_bundle_output, make_writing_tool
from tests.unit.pilot.slot_runner import Runner

FAULTS = {ErrorClass.TOOL_FAILED, ErrorClass.TOOL_REFUSED}


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a storage for all examples of a test."""
    return tmp_path_factory.mktemp("store")


def _refuse_constant(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def require_stored_or_explained(report: AttemptReport) -> None:
    if report.outcome is not AttemptOutcome.FINISHED:
        assert report.error_class in FAULTS, report
        assert report.message
        return
    for file in report.outputs:
        path = Path(file.url.removeprefix("file://"))
        if path.suffix == ".tar":
            with tempfile.TemporaryDirectory() as folder:
                value = unpack(path, Path(folder))
            assert json.loads(json.dumps(value).encode(), parse_constant=_refuse_constant) == value


def nest_text(opening: str, closing: str, levels: int) -> bytes:
    return f'{{"o": {opening * levels}1{closing * levels}}}'.encode()


WRONG_OUTPUTS = {
    "deep lists": (
        nest_text("[", "]", 256),
        "output 'o' cannot be taken: o[0][0][0]… is nested more than 256 lists and objects deep",
    ),
    "deep objects": (
        nest_text('{"a":', "}", 5000),
        "cwl.output.json cannot be read as JSON (it nests lists and objects more than 256 deep)",
    ),
    "long number": (
        b'{"o": [-%s]}' % (b"9" * 5000),
        "output 'o' cannot be taken: o[0] is a whole number of more than 4300 digits",
    ),
    "unpaired surrogate": (
        b'{"o": {"a": "\\ud800"}}',
        "output 'o' cannot be taken: o.a contains an unpaired surrogate",
    ),
    "half a name": (
        b'{"o": [1, {"\\ud800": 1}]}',
        "output 'o' cannot be taken: o[1] has a name that contains an unpaired surrogate",
    ),
    "no number": (
        b'{"o": [1, NaN]}',
        "output 'o' cannot be taken: o[1] is NaN, and JSON has no such number: give a finite one",
    ),
    "no name": (
        b'{"": null}',
        (
            "what the tool left cannot be taken: cwl.output.json cannot be read as outputs:"
            " let the tool write files, folders and values"
        ),
    ),
    "no name and a long number": (
        b'{"": [%s]}' % (b"9" * 5000),
        "what the tool left cannot be taken: ['']",
    ),
    "too large": (
        b'{"o": {"a b": -1e400}}',
        "output 'o' cannot be taken: o['a b'] is -Infinity, and JSON has no such number",
    ),
    "of no output": (b'{"o": 1, "more": 1e999}', "output 'more' cannot be taken: more is Infinity"),
    "no JSON": (
        b'{"o": 1',
        (
            "cwl.output.json cannot be read as JSON (line 1, column 8: expecting ','"
            " delimiter): let the tool write"
        ),
    ),
    "many values": (
        b'{"o": [%s1]}' % (b"{}," * (4 << 20)),
        "cwl.output.json cannot be read as JSON (it has more than 500000 brackets and commas)",
    ),
    "no UTF-8": (
        b'{"o": "\xe9"}',
        "cwl.output.json cannot be read as JSON (byte 7 is not of a text in UTF-8): let the tool",
    ),
    "no object": (
        b"[]",
        "cwl.output.json holds no JSON object: let the tool write one with its outputs by name",
    ),
    "a place": (
        b'{"o": {"class": "File", "location": 3}}',
        "output 'o' cannot be taken: o is a File whose location is not text",
    ),
    "a URL": (
        b'{"o": {"class": "File", "location": "file://[::1/x"}}',
        "o is a File whose location is not a URL",
    ),
    "a name": (
        b'{"o": {"class": "File", "path": "f", "basename": 5}}',
        "o is a File whose basename is not text",
    ),
    "beside": (
        b'{"o": {"class": "File", "path": "f", "secondaryFiles": [5]}}',
        "whose secondaryFiles is not a list of Files",
    ),
    "a class": (
        b'{"o": {"class": ["File"]}}',
        "output 'o' cannot be taken: o has a class that is not text",
    ),
}


@pytest.mark.parametrize("name", WRONG_OUTPUTS)
def test_unusable_output_object_is_refused_with_a_message(
    runner: Runner, root: Path, name: str
) -> None:
    """The message says what is wrong, where, and what to do. The job is not attempted again. The
    same applies in an inner workflow."""
    content, reason = WRONG_OUTPUTS[name]
    file = write_input(root / "in" / "a.dat", data=content)
    for process in (make_writing_tool("Any"), wrap_in_workflow(make_writing_tool("Any"))):
        error_class, message = get_error(
            run(runner, make_task(root, process, outputs=[make_bundle_output(root)]), [file])
        )
        assert error_class is ErrorClass.TOOL_REFUSED, message
        assert reason in message


def test_output_object_at_the_depth_limit_is_stored(runner: Runner, root: Path) -> None:
    for number, content in enumerate(
        (nest_text("[", "]", 255), nest_text('{"a":', "}", 255), b'{"o": %s}' % (b"9" * 4300))
    ):
        report = run(
            runner,
            make_task(root, make_writing_tool("Any"), outputs=[make_bundle_output(root)]),
            [write_input(root / "in" / f"{number}.dat", data=content)],
            seq=number,
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        require_stored_or_explained(report)


#: A placeholder for a number that Python does not write.
LONG = "a long number"
NUMBERS = st.floats() | st.integers() | st.just(LONG)
PLACES = st.sampled_from(
    [
        "f",
        "d",
        "../f",
        "/etc/passwd",
        "file:///etc",
        "f/",
        "",
        ".",
        "f%2f",
        "http://x/y",
        "_:a",
        "\udcff",
        "a\0b",
    ]
)
KINDS = st.sampled_from(["File", "Directory"])
FIELDS = [
    "class",
    "location",
    "path",
    "basename",
    "contents",
    "listing",
    "secondaryFiles",
    "sluice:counts",
    "size",
    "format",
]
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(st.characters(), max_size=5) | PLACES | KINDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(FIELDS), inner, max_size=4)
        | st.fixed_dictionaries(
            {"class": KINDS}, optional={field: inner | PLACES for field in FIELDS[1:]}
        )
    ),
    max_leaves=12,
)


OBJECTS = st.builds(
    lambda value: json.dumps(value).replace(f'"{LONG}"', "9" * 5000).encode(), VALUES
)
NAMED = st.builds(lambda text: b'{"o": %s}' % text, OBJECTS)


@settings(
    max_examples=count_examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    content=NAMED | OBJECTS | st.binary(max_size=20),
    kind=st.sampled_from(["Any", "File", "Directory", "File[]", "float"]),
)
@example(b"", "Any")
@example(b'{"o": {"class": true}}', "File")
@example(b'{"o": {"class": "File", "location": null}}', "Any")
@example(b'\xef\xbb\xbf{"o": 1}', "Any")
def test_any_output_object_is_stored_or_refused(
    runner: Runner, storage: Path, content: bytes, kind: str
) -> None:
    process = make_writing_tool(kind)
    process["baseCommand"], process["arguments"] = (
        ["sh", "-c", 'echo x > f; mkdir d; echo y > d/y; cp "$0" cwl.output.json'],
        ["$(inputs.f.path)"],
    )
    target = make_output(storage, "o") if kind == "File" else make_bundle_output(storage)
    require_stored_or_explained(
        run(
            runner,
            make_task(storage, process, outputs=[target]),
            [write_input(storage / "in" / "a.dat", data=content)],
        )
    )


MAKES = """
import json, os, sys
for name in json.load(open(sys.argv[1])):
    path = bytes(name)
    try:
        os.makedirs(os.path.dirname(path) or b'.', exist_ok=True)
        os.mkfifo(path) if path.endswith(b'p') else open(path, 'w').close()
    except OSError:
        pass
"""
PARTS = st.binary(min_size=1, max_size=3).filter(
    lambda part: not {0, 47} & set(part) and part not in (b".", b"..")
)
PATHS = st.lists(st.lists(PARTS, min_size=1, max_size=3).map(b"/".join), max_size=4)


@settings(
    max_examples=count_examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    names=PATHS,
    glob=st.sampled_from(["*", "*/*", "."]),
    kind=st.sampled_from(["File", "File[]", "Directory"]),
)
@example([b"\xff"], "*", "File")
@example([b"a\nb"], "*", "File")
@example([b"d/\xff"], "d", "Directory")
@example([b"cwl.output.json/x"], "*", "File")
@example([b"cwl.output.json\xff", b"cwl.output.json"], "*", "File")
def test_any_output_files_are_stored_or_refused(
    runner: Runner, storage: Path, names: list[bytes], glob: str, kind: str
) -> None:
    process = make_python_tool(
        MAKES, outputs={"o": {"type": kind, "outputBinding": {"glob": glob}}}
    )
    del process["stdout"]
    file = write_input(
        storage / "in" / "a.dat", data=json.dumps([list(name) for name in names]).encode()
    )
    target = make_output(storage, "o") if kind == "File" else make_bundle_output(storage)
    require_stored_or_explained(run(runner, make_task(storage, process, outputs=[target]), [file]))


DEEP = "import os\nfor _ in range({levels}): os.mkdir('d'); os.chdir('d')\nopen('f', 'w').close()"


@pytest.fixture
def removed_folders(runner: Runner) -> Iterator[None]:
    """Remove folders that would be too deep for the cleanup after a failed test."""
    yield
    remaining_folders = [
        *runner.run.path.glob("slots/*/out/d"),
        *runner.run.path.glob("slots/*/tmp/*/d"),
    ]
    subprocess.run(["rm", "-rf", *remaining_folders], check=True)


@pytest.mark.usefixtures("removed_folders")
@pytest.mark.parametrize("listing", ["no_listing", "deep_listing"])
def test_too_deep_output_folder_is_refused(runner: Runner, root: Path, listing: str) -> None:
    """The folder is deeper than any path and than the stack of Python. The same applies in an inner
    workflow."""
    binding = {"type": "Directory", "outputBinding": {"glob": "d", "loadListing": listing}}
    process = make_python_tool(DEEP.format(levels=3000), outputs={"o": binding})
    del process["stdout"]
    inside = wrap_in_workflow(process)
    inside["outputs"]["o"]["type"] = "Directory"
    file = write_input(root / "in" / "a.dat")
    for document in (process, inside):
        error_class, message = get_error(
            run(runner, make_task(root, document, outputs=[make_bundle_output(root)]), [file])
        )
        assert error_class is ErrorClass.TOOL_REFUSED, message
        assert "more than 100 folders deep" in message
    process["arguments"][0] = DEEP.format(levels=90)
    report = run(runner, make_task(root, process, outputs=[make_bundle_output(root)]), [file])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    require_stored_or_explained(report)


@pytest.mark.usefixtures("removed_folders")
def test_deep_folder_beside_the_outputs_is_removed(runner: Runner, root: Path) -> None:
    optional = {"o": {"type": "File?", "outputBinding": {"glob": "nothing"}}}
    leaving_tool = make_python_tool(DEEP.format(levels=3000), outputs=optional)
    del leaving_tool["stdout"]
    listing_tool = make_python_tool("import os; print(os.listdir())")
    file = write_input(root / "in" / "a.dat")
    assert (
        run(
            runner,
            make_task(root, leaving_tool, outputs=[make_output(root, "o", optional=True)]),
            [file],
        ).outcome
        is AttemptOutcome.FINISHED
    )
    report = run(runner, make_task(root, listing_tool), [file], seq=2)
    assert (root / "out" / report.outputs[0].name).read_text() == "['a.out']\n"
