"""Tests of jobs with inputs and outputs other than plain files, in a real slot process."""

import hashlib
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from sluice.contracts.common.naming import MAX_NAME_BYTES
from sluice.contracts.common.states import AttemptOutcome, EntryKind, ErrorClass, TaskMode
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.leases import BundlePort
from sluice.contracts.pilots.reports import AttemptReport
from sluice.cwl_values import pack, unpack
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


def make_bundle(
    root: Path, value: Any, *, seq: int = 0, port: str = "", name: str = ""
) -> InputFile:
    path = root / "in" / (name or f"{port}{seq}.tar")
    path.parent.mkdir(parents=True, exist_ok=True)
    pack(value, path)
    content = path.read_bytes()
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return InputFile(
        seq=seq,
        name=path.name,
        size=len(content),
        checksum=checksum,
        url=f"file://{path}",
        port=port,
    )


def write_file(path: Path, text: str = "") -> dict[str, Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {"class": "File", "path": str(path)}


def make_bundle_output(root: Path, *, optional: bool = False) -> TaskOutput:
    return make_output(root, "o", optional=optional).model_copy(update={"kind": EntryKind.BUNDLE})


def make_spread_output(root: Path, *, kind: EntryKind = EntryKind.FILE) -> TaskOutput:
    return make_output(root, "o").model_copy(update={"kind": kind, "spread": True})


def read_value(report: AttemptReport, folder: Path) -> Any:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    [stored] = report.outputs
    return unpack(Path(stored.url.removeprefix("file://")), folder)


def get_path(value: dict[str, Any]) -> Path:
    return Path(unquote(urlsplit(value["location"]).path))


def make_script_tool(
    code: str, inputs: dict[str, Any], outputs: dict[str, Any], *arguments: str
) -> dict[str, Any]:
    javascript: dict[str, Any] = {"InlineJavascriptRequirement": {}}
    process = {
        "cwlVersion": "v1.2",
        "class": "CommandLineTool",
        "baseCommand": ["sh", "-c", code.replace("$(", "\\$("), "sh"],
    }
    return {
        **process,
        "inputs": inputs,
        "outputs": outputs,
        "arguments": list(arguments),
        "requirements": javascript,
    }


TREE = {"o": {"type": "Directory", "outputBinding": {"glob": "*.copy"}}}


def test_directory_can_be_an_input_and_an_output(runner: Runner, root: Path) -> None:
    write_file(root / "a tree" / "deep" / "leaf", "leaf")
    copy = make_script_tool(
        'cp -RL "$1" "$2.copy" || exit; echo more > "$1/deep/leaf" || :',
        {"f": "Directory"},
        TREE,
        "$(inputs.f)",
        "$(inputs.f.basename)",
    )
    trees = make_task(
        root, copy, bundles=[BundlePort(port="f")], outputs=[make_bundle_output(root)]
    )
    stored_bundle = make_bundle(root, {"class": "Directory", "path": str(root / "a tree")})
    report = run(runner, trees, [stored_bundle], seq=5)
    output_value = read_value(report, root / "found")
    assert (report.outputs[0].name, report.outputs[0].number) == (
        "00000005.1-a tree.copy.tar",
        None,
    )
    assert (output_value["class"], (get_path(output_value) / "deep" / "leaf").read_text()) == (
        "Directory",
        "leaf",
    )
    again = read_value(run(runner, trees, [stored_bundle], seq=6), root / "again")
    assert (get_path(again) / "deep" / "leaf").read_text() == "leaf", (
        "changes that a tool makes to its input stay in its job"
    )


def test_secondary_files_are_staged_beside_their_file(runner: Runner, root: Path) -> None:
    read = make_script_tool(
        'cat "$1" "$1.bai" > x && mv x "$2.all" && echo 1 > "$2.all.n"',
        {"f": {"type": "File", "secondaryFiles": [".bai"]}},
        {"o": {"type": "File", "secondaryFiles": [".n"], "outputBinding": {"glob": "*.all"}}},
        "$(inputs.f)",
        "$(inputs.f.nameroot)",
    )
    value = {
        **write_file(root / "x.bam", "reads"),
        "secondaryFiles": [write_file(root / "x.bam.bai", "index")],
    }
    output_value = read_value(
        run(
            runner,
            make_task(
                root, read, bundles=[BundlePort(port="f")], outputs=[make_bundle_output(root)]
            ),
            [make_bundle(root, value)],
        ),
        root / "found",
    )
    assert get_path(output_value).read_text() == "readsindex"
    assert [get_path(file) for file in output_value["secondaryFiles"]] == [
        get_path(output_value).with_name("x.all.n")
    ]


def test_port_takes_a_single_value_or_all_values_as_the_task_says(
    runner: Runner, root: Path
) -> None:
    first, second = (
        [write_file(root / "1" / "a", "1"), write_file(root / "1" / "b", "2")],
        [write_file(root / "2" / "a", "3")],
    )
    nested = {"type": "array", "items": {"type": "array", "items": "File"}}
    count = {"o": {"type": "int", "outputBinding": {"outputEval": "$(inputs.f.length)"}}}
    whole = make_task(
        root,
        make_script_tool("true", {"f": {"type": nested}}, count),
        bundles=[BundlePort(port="f", whole=True)],
        outputs=[make_bundle_output(root)],
        mode=TaskMode.MERGE,
    )
    assert (
        read_value(
            run(runner, whole, [make_bundle(root, first), make_bundle(root, second, seq=1)]),
            root / "whole",
        )
        == 2
    )
    single = make_task(
        root,
        make_script_tool("true", {"f": "File[]"}, count),
        bundles=[BundlePort(port="f")],
        outputs=[make_bundle_output(root)],
    )
    assert read_value(run(runner, single, [make_bundle(root, first)]), root / "one") == 2
    assert read_value(run(runner, single, [make_bundle(root, [])]), root / "none") == 0, (
        "an empty list is a value"
    )


def test_value_without_files_can_be_an_input_and_an_output(runner: Runner, root: Path) -> None:
    double = {"o": {"type": "int", "outputBinding": {"outputEval": "$(inputs.f * 2)"}}}
    numbers = make_task(
        root,
        make_script_tool("true", {"f": "int"}, double),
        bundles=[BundlePort(port="f")],
        outputs=[make_bundle_output(root)],
    )
    report = run(runner, numbers, [make_bundle(root, 21)])
    assert (read_value(report, root / "found"), report.outputs[0].name) == (42, "00000000.1-o.tar")


def test_null_output_is_no_entry_if_the_output_is_optional(runner: Runner, root: Path) -> None:
    nothing = make_script_tool(
        "true",
        {"f": "File"},
        {"o": {"type": ["null", "int"], "outputBinding": {"outputEval": "$(null)"}}},
    )
    file = write_input(root / "in" / "a.dat")
    report = run(
        runner, make_task(root, nothing, outputs=[make_bundle_output(root, optional=True)]), [file]
    )
    assert (report.outcome, report.outputs) == (AttemptOutcome.FINISHED, [])
    error, message = get_error(
        run(runner, make_task(root, nothing, outputs=[make_bundle_output(root)]), [file])
    )
    assert (error, message) == (ErrorClass.TOOL_FAILED, "the tool gave nothing for its output 'o'")


def test_each_item_of_a_list_becomes_an_entry(runner: Runner, root: Path) -> None:
    several = make_script_tool(
        "mkdir d e; echo 0 > d/x; echo 1 > e/x; echo 2 > y",
        {"f": "File"},
        {"o": {"type": "File[]", "outputBinding": {"glob": ["d/x", "e/x", "y"]}}},
    )
    file = write_input(root / "in" / "a.dat")
    report = run(
        runner, make_task(root, several, outputs=[make_spread_output(root)]), [file], attempt=2
    )
    assert [(file.name, file.number) for file in report.outputs] == [
        ("00000000.2-x", 0),
        ("00000001.2-x", 1),
        ("00000002.2-y", 2),
    ], report.message
    assert [Path(file.url.removeprefix("file://")).read_text() for file in report.outputs] == [
        "0\n",
        "1\n",
        "2\n",
    ]
    values = make_script_tool(
        "true",
        {"f": "File"},
        {"o": {"type": "Any", "outputBinding": {"outputEval": "$(['a', null, 'c'])"}}},
    )
    report = run(
        runner,
        make_task(root, values, outputs=[make_spread_output(root, kind=EntryKind.BUNDLE)]),
        [file],
    )
    assert [file.number for file in report.outputs] == [0, 2], report.message
    scalar = make_script_tool(
        "true", {"f": "File"}, {"o": {"type": "Any", "outputBinding": {"outputEval": "$(3)"}}}
    )
    _, message = get_error(
        run(
            runner,
            make_task(root, scalar, outputs=[make_spread_output(root, kind=EntryKind.BUNDLE)]),
            [file],
        )
    )
    assert message == "output 'o' is not a list"


def test_file_that_is_not_a_bundle_fails_the_job(runner: Runner, root: Path) -> None:
    trees = make_task(root, make_tool(["true"]), bundles=[BundlePort(port="f")])
    error, message = get_error(
        run(runner, trees, [write_input(root / "in" / "a.txt", data=b"text")])
    )
    assert error is ErrorClass.TOOL_REFUSED
    assert message.startswith("input file 'a.txt' is not a bundle (")


@pytest.mark.parametrize(("length", "kept_length"), [(200, 200), (230, 216)])
def test_directories_with_too_long_names_are_stored_under_shortened_names(
    length: int, kept_length: int, runner: Runner, root: Path
) -> None:
    make = make_script_tool(
        f"mkdir {'d' * length}",
        {"f": "File"},
        {"o": {"type": "Directory", "outputBinding": {"glob": "d*"}}},
    )
    report = run(
        runner,
        make_task(root, make, outputs=[make_bundle_output(root)]),
        [write_input(root / "in" / "a.dat")],
    )
    [stored] = report.outputs
    assert len(stored.name) <= MAX_NAME_BYTES
    assert re.fullmatch(rf"00000000\.1-d{{{kept_length}}}(-[0-9a-f]{{8}})?\.tar", stored.name)


def test_directory_with_a_named_pipe_fails_the_job(runner: Runner, root: Path) -> None:
    pipe = make_script_tool(
        "mkdir d && mkfifo d/pipe",
        {"f": "File"},
        {"o": {"type": "Directory", "outputBinding": {"glob": "d"}}},
    )
    error, message = get_error(
        run(
            runner,
            make_task(root, pipe, outputs=[make_bundle_output(root)]),
            [write_input(root / "in" / "a.dat")],
        )
    )
    assert error is ErrorClass.TOOL_REFUSED
    assert message == "output 'o' cannot be taken: 'd/pipe' is neither a file nor a folder"
