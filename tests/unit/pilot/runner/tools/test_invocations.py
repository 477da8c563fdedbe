"""Tests of jobs whose input file describes the process to run, in a real slot process."""

import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.pilots.reports import AttemptReport
from sluice.cwl_values import pack, unpack
from sluice.storage import compute_checksum
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.invocations import OPERATION, write_invocation
from tests.unit.pilot.slot_runner import Runner


def write_stored_file(root: Path, name: str, text: str) -> dict[str, Any]:
    path = root / "store" / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {"class": "File", "location": f"files/{name}", "checksum": compute_checksum(path)}


def write_stored_tree(root: Path) -> dict[str, Any]:
    """Return a directory with a single file, ``deep/leaf``."""
    archive = root / "store" / "files" / "tree.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    (root / "tree" / "deep").mkdir(parents=True)
    (root / "tree" / "deep" / "leaf").write_text("leaf")
    pack({"class": "Directory", "path": str(root / "tree")}, archive)
    return {
        "class": "Directory",
        "location": "files/tree.tar",
        "basename": "tree",
        "checksum": compute_checksum(archive),
    }


def read_result(report: AttemptReport, folder: Path) -> Any:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return unpack(Path(report.outputs[0].url.removeprefix("file://")), folder)


def read_text(value: dict[str, Any]) -> str:
    return Path(unquote(urlsplit(value["location"]).path)).read_text()


def test_process_of_the_invocation_is_run(runner: Runner, root: Path) -> None:
    inputs = {
        "f": {"type": "File", "inputBinding": {}},
        "n": {"type": "int", "inputBinding": {"prefix": "-n"}},
    }
    head = make_tool(["head"], inputs=inputs)
    about = make_task(root, OPERATION)
    order = {"f": write_stored_file(root, "a b.txt", "one\ntwo\nthree\n"), "n": 2}
    outputs = read_result(run(runner, about, [write_invocation(root, head, order)]), root / "first")
    assert (outputs["o"]["basename"], read_text(outputs["o"])) == ("a b.out", "one\ntwo\n")
    count = make_tool(["wc", "-l"], inputs={"f": {"type": "File"}}, stdin="$(inputs.f.path)")
    report = run(runner, about, [write_invocation(root, count, {"f": order["f"]}, name="named-1")])
    assert read_text(read_result(report, root / "second")["o"]).strip() == "3", (
        "a task can run another process"
    )


def test_directories_and_secondary_files_of_an_invocation_are_staged(
    runner: Runner, root: Path
) -> None:
    reads = write_stored_file(root, "x.bam", "reads") | {
        "secondaryFiles": [write_stored_file(root, "x.bam.bai", "index")]
    }
    show = make_tool(
        ["sh", "-c", 'cat "$0" "$0.bai"; cd "$1"; find . -type f'],
        inputs={
            "f": {"type": "File", "secondaryFiles": [".bai"], "inputBinding": {"position": 1}},
            "d": {"type": "Directory", "inputBinding": {"position": 2}},
        },
    )
    order = {"f": reads, "d": write_stored_tree(root)}
    outputs = read_result(
        run(runner, make_task(root, OPERATION), [write_invocation(root, show, order)]), root / "out"
    )
    assert read_text(outputs["o"]) == "readsindex./deep/leaf\n"


def make_literal_file(name: str, **fields: Any) -> dict[str, Any]:
    return {"class": "File", "basename": name, "contents": name, **fields}


def make_literal_directory(name: str, *listing: dict[str, Any]) -> dict[str, Any]:
    return {"class": "Directory", "basename": name, "listing": list(listing)}


def test_literal_directory_has_all_listed_entries(runner: Runner, root: Path) -> None:
    paired = write_stored_file(root, "b", "b") | {
        "secondaryFiles": [write_stored_file(root, "b.i", "b.i"), make_literal_file("b.j")]
    }
    inner = make_literal_directory("inner", paired, write_stored_tree(root))
    directory = make_literal_directory(
        "made",
        write_stored_file(root, "a", "a"),
        make_literal_file("x"),
        inner,
        make_literal_directory("empty"),
    )
    show = make_tool(
        ["sh", "-c", 'cd "$0"; find -L . | LC_ALL=C sort; cat a inner/b inner/tree/deep/leaf'],
        inputs={"d": {"type": "Directory", "inputBinding": {"position": 1}}},
        stdout="$(inputs.d.basename).out",
        outputs={"o": "stdout"},
    )
    outputs = read_result(
        run(runner, make_task(root, OPERATION), [write_invocation(root, show, {"d": directory})]),
        root / "out",
    )
    inside = ["", "/b", "/b.i", "/b.j", "/tree", "/tree/deep", "/tree/deep/leaf"]
    listed = [".", "./a", "./empty", *(f"./inner{name}" for name in inside), "./x"]
    assert read_text(outputs["o"]) == "\n".join([*listed, "ableaf"])


def test_literal_secondary_files_are_staged_beside_their_file(runner: Runner, root: Path) -> None:
    a, b = write_stored_file(root, "a", "a"), write_stored_file(root, "b", "b")
    show = make_tool(
        ["sh", "-c", 'cd "$(dirname "$0")"; find -L . | LC_ALL=C sort | tr -d "\\n"'],
        inputs={"f": {"type": "File", "inputBinding": {}}},
    )
    for number, (order, expected) in enumerate(
        [
            (
                make_literal_file(
                    "p", secondaryFiles=[a, make_literal_file("x"), make_literal_directory("d", b)]
                ),
                "../a./d./d/b./p./x",
            ),
            (a | {"secondaryFiles": [make_literal_file("x")]}, "../a./x"),
            (
                a | {"secondaryFiles": [b, make_literal_directory("d", b, make_literal_file("x"))]},
                "../a./b./d./d/b./d/x",
            ),
        ]
    ):
        files = [write_invocation(root, show, {"f": order}, name=f"named-{number}")]
        assert (
            read_text(
                read_result(run(runner, make_task(root, OPERATION), files), root / f"out-{number}")[
                    "o"
                ]
            )
            == expected
        )


def test_invocation_returns_outputs_of_all_types(runner: Runner, root: Path) -> None:
    many = {
        "cwlVersion": "v1.2",
        "class": "CommandLineTool",
        "baseCommand": ["sh", "-c", "mkdir d; echo 1 > d/x; echo 2 > y; ln -s y z; echo 42 > n"],
        "inputs": [],
        "outputs": {
            "d": {"type": "Directory", "outputBinding": {"glob": "d"}},
            "all": {"type": "File[]", "outputBinding": {"glob": ["y", "z"]}},
            "n": {
                "type": "int",
                "outputBinding": {
                    "glob": "n",
                    "loadContents": True,
                    "outputEval": "$(parseInt(self[0].contents))",
                },
            },
            "none": {"type": "File?", "outputBinding": {"glob": "nothing"}},
        },
        "requirements": {"InlineJavascriptRequirement": {}},
    }
    outputs = read_result(
        run(runner, make_task(root, OPERATION), [write_invocation(root, many, {})]), root / "out"
    )
    assert (outputs["n"], outputs["none"]) == (42, None)
    assert (Path(urlsplit(outputs["d"]["location"]).path) / "x").read_text() == "1\n"
    assert [(file["basename"], read_text(file)) for file in outputs["all"]] == [
        ("y", "2\n"),
        ("z", "2\n"),
    ]


@pytest.mark.parametrize(
    "location", ["../../in/secret", "/etc/passwd", "files/../../secret", "%2e%2e/secret"]
)
def test_file_outside_the_storage_is_refused(location: str, runner: Runner, root: Path) -> None:
    (root / "secret").parent.mkdir(parents=True, exist_ok=True)
    (root / "secret").write_text("secret")
    order = {"f": {"class": "File", "location": location}}
    error, message = get_error(
        run(runner, make_task(root, OPERATION), [write_invocation(root, make_tool(["cat"]), order)])
    )
    assert error is ErrorClass.TOOL_REFUSED
    assert "not in its storage" in message


def test_file_is_staged_only_with_its_checksum(runner: Runner, root: Path) -> None:
    """Files of other groups lie on the same storage. Errors do not show whether a file exists."""
    foreign_file = write_stored_file(root, "hers", "secret")
    cat = make_tool(["cat"], inputs={"f": {"type": "File", "inputBinding": {}}})

    def run_with_fields(number: int, kind: str, **fields: Any) -> tuple[ErrorClass | None, str]:
        order = {"f": {**foreign_file, "class": kind, "basename": "f", **fields}}
        file = write_invocation(root, cat, order, name=f"named-{number}")
        return get_error(run(runner, make_task(root, OPERATION), [file]))

    for number, kind in enumerate(("File", "Directory")):
        for checksum in (None, "sha256:", "sha1$" + "0" * 40):
            error, message = run_with_fields(number, kind, checksum=checksum)
            assert (error, "gives no checksum" in message) == (ErrorClass.TOOL_REFUSED, True)
        guess = "sha256:" + "0" * 64
        mismatch = run_with_fields(number, kind, checksum=guess)
        missing = run_with_fields(number, kind, checksum=guess, location="files/none")
        assert mismatch[0] is missing[0] is ErrorClass.STAGE_IN_FAILED
        assert mismatch[1].replace("files/hers", "files/none") == missing[1]
        assert foreign_file["checksum"].removeprefix("sha256:") not in mismatch[1]


@pytest.mark.parametrize("name", ["..", "."])
def test_file_without_a_plain_name_is_refused(name: str, runner: Runner, root: Path) -> None:
    order = {"f": write_stored_file(root, "a", "a") | {"basename": name}}
    error, message = get_error(
        run(runner, make_task(root, OPERATION), [write_invocation(root, make_tool(["cat"]), order)])
    )
    assert (error, "give it a name" in message) == (ErrorClass.TOOL_REFUSED, True)


def test_bundle_of_a_directory_cannot_move_files_outside(runner: Runner, root: Path) -> None:
    outside = root.parent / "outside.txt"
    outside.write_text("secret")
    archive = write_stored_file(root, "tree.tar", "")
    value = {"class": "Directory", "basename": str(outside), "location": "files/0/tree"}
    with tarfile.open(root / "store" / "files" / "tree.tar", "w") as tar_file:
        folder = tarfile.TarInfo("files/0/tree")
        folder.type = tarfile.DIRTYPE
        tar_file.addfile(folder)
        content = json.dumps(value).encode()
        member = tarfile.TarInfo("value.json")
        member.size = len(content)
        tar_file.addfile(member, io.BytesIO(content))
    checksum = compute_checksum(root / "store" / "files" / "tree.tar")
    order = {"d": {**archive, "class": "Directory", "basename": "tree", "checksum": checksum}}
    show = make_tool(["ls"], inputs={"d": {"type": "Directory", "inputBinding": {}}})
    error, message = get_error(
        run(runner, make_task(root, OPERATION), [write_invocation(root, show, order)])
    )
    assert (error, "is not a file name" in message) == (ErrorClass.TOOL_REFUSED, True)
    assert outside.read_text() == "secret"


def test_failed_invocation_is_refused_unless_the_exit_code_is_temporary(
    runner: Runner, root: Path
) -> None:
    order = {"f": write_stored_file(root, "a", "")}
    for exit_code, codes, expected in (
        (3, {}, "tool_refused"),
        (3, {"temporaryFailCodes": [3]}, "tool_failed"),
    ):
        fails = make_tool(["sh", "-c", f"echo no beam >&2; exit {exit_code}"], **codes)
        error, message = get_error(
            run(runner, make_task(root, OPERATION), [write_invocation(root, fails, order)])
        )
        assert (error, "no beam" in message) == (expected, True)
    well = make_tool(["sh", "-c", "exit 3"], successCodes=[3])
    assert (
        run(runner, make_task(root, OPERATION), [write_invocation(root, well, order)]).outcome
        is AttemptOutcome.FINISHED
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"no json", "is not an invocation"),
        (b'{"order": {}}', "process: Field required"),
        (b'{"process": {"class": "Workflow"}}', "runs a CommandLineTool, not 'Workflow'"),
        (b'{"process": {"class": "CommandLineTool", "cwlVersion": "v1.2"}}', "cannot be used"),
        (b'{"process": {"class": "CommandLineTool", "cwlVersion": "v1.2", "baseCommand": "true", '
         b'"inputs": {"n": "int"}, "outputs": {}}, "order": {"n": "x"}}', "could not be set up"),
    ],
)  # fmt: skip
def test_invalid_invocation_is_refused(
    body: bytes, reason: str, runner: Runner, root: Path
) -> None:
    error, message = get_error(
        run(
            runner,
            make_task(root, OPERATION),
            [write_input(root / "store" / "orders" / "0.json", data=body)],
        )
    )
    assert error is ErrorClass.TOOL_REFUSED
    assert reason in message


#: Prints the number of its jobs, what the requests say about the files, and their contents.
SERVES = """
import json, sys
if "--persistent_worker" not in sys.argv:
    sys.stdin = [json.dumps({"arguments": sys.argv[1:], "inputs": [], "requestId": 0})]
for number, line in enumerate(sys.stdin, 1):
    request = json.loads(line)
    texts = [open(path).read() for path in request["arguments"]]
    told = [[one["path"] in request["arguments"], one["digest"]] for one in request["inputs"]]
    said = json.dumps([number, told, texts])
    if request["requestId"]:
        said = json.dumps({"output": said, "requestId": request["requestId"]})
    print(said, flush=True)
"""


def test_warm_worker_serves_invocations_with_the_same_key(runner: Runner, root: Path) -> None:
    about = make_task(root, OPERATION, warm=Warm(kind="a", key=["k"]))
    inputs = {"f": {"type": "File", "inputBinding": {}}, "k": "Any"}
    serves = make_tool([sys.executable, "-c", SERVES], inputs=inputs)
    files = [write_stored_file(root, name, name) for name in ("one", "two")]

    def serve_order(process: dict[str, Any], file: dict[str, Any], key: Any) -> Any:
        order = {"f": file, "k": key}
        folder = root / f"{len(list(root.iterdir()))}"
        order_file = write_invocation(root, process, order, name=f"{folder.name}.json")
        return json.loads(read_text(read_result(run(runner, about, [order_file]), folder)["o"]))

    one, two = ([True, "files/one"], [True, "files/two"])
    assert serve_order(serves, files[0], 1) == [1, [one], ["one"]]
    assert serve_order(serves, files[1], 1) == [2, [two], ["two"]]
    assert serve_order(serves, files[1], 2)[0] == 1, "another value of the key needs another worker"
    assert serve_order(serves, files[1], files[0])[:2] == [1, [two, [False, "files/one"]]]
    assert serve_order(serves, files[1], files[0])[0] == 2
    assert serve_order(serves, files[1], files[1])[0] == 1, (
        "another file of the key needs another worker"
    )
    other = {**serves, "doc": "other"}
    assert serve_order(other, files[1], files[1])[0] == 1, "another tool needs another worker"
    reading = {**serves, "stdin": "$(inputs.f.path)"}
    assert serve_order(reading, files[1], 1) == [1, [], ["two"]], (
        "a tool that reads standard input cannot stay loaded"
    )
