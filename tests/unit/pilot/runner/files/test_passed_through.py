"""Tests of outputs that are inputs, in a real slot process: they are copied, and the input does not
change."""

from pathlib import Path
from typing import Any

import pytest

from pilot.runner.files.input_protection import MAX_COPIED
from sluice.contracts.common.states import AttemptOutcome, EntryKind
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.pilots.reports import AttemptReport
from sluice.cwl_values import unpack
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.invocations import OPERATION, write_invocation
from tests.unit.pilot.slot_runner import Runner

_SMALL, _LARGE = b"small", bytes(MAX_COPIED + 1)
_LINKED = {"class": "InitialWorkDirRequirement", "listing": ["$(inputs.f)"]}


def make_link_tool(command: str, **fields: Any) -> dict[str, Any]:
    process = make_tool(["sh", "-c", command], arguments=["$(inputs.f.path)"], **fields)
    process.setdefault("outputs", {})["o"] = fields.get("outputs", {}).get(
        "o", make_glob_output("x")
    )
    del process["stdout"]
    return process


def make_glob_output(pattern: str) -> dict[str, Any]:
    return {"type": "File", "outputBinding": {"glob": pattern}}


PASSED_THROUGH_TOOLS = {
    "link": make_link_tool('ln -s "$0" x'),
    "link by links": make_link_tool('mkdir d; ln -s "$0" d/y; ln -s d e; ln -s e/y x'),
    "link to where it lies": make_link_tool('ln -s "$(readlink -f "$0")" x'),
    "linked folder": make_link_tool(
        'ln -s "$(dirname "$0")" d', outputs={"o": make_glob_output("d/a.dat")}
    ),
    "put into the work folder": make_link_tool(
        "true", requirements=[_LINKED], outputs={"o": make_glob_output("a.dat")}
    ),
    "expression": make_link_tool(
        "true", outputs={"o": {"type": "File", "outputBinding": {"outputEval": "$(inputs.f)"}}}
    ),
    "output object": make_link_tool(
        """printf '{"o": {"class": "File", "path": "%s"}}' "$0" > cwl.output.json"""
    ),
}  # fmt: skip
EXPRESSION = {
    "cwlVersion": "v1.2",
    "class": "ExpressionTool",
    "requirements": {"InlineJavascriptRequirement": {}},
    "inputs": {"f": "File"},
    "outputs": {"o": "File"},
    "expression": "${ return {o: inputs.f}; }",
}


def create_input(root: Path, content: bytes, *, linked: bool) -> InputFile:
    """Return an input. If ``linked``, it is a symbolic link on the storage, to which no hard link
    can be made."""
    file = write_input(root / "in" / "a.dat", data=content)
    if linked:
        (root / "in" / "a.dat").rename(root / "in" / "elsewhere")
        (root / "in" / "a.dat").symlink_to("elsewhere")
    return file


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize(
    ("content", "linked"),
    [(_SMALL, False), (_LARGE, False), (_LARGE, True)],
    ids=["small", "large", "large and linked"],
)
@pytest.mark.parametrize(
    "process",
    [*PASSED_THROUGH_TOOLS.values(), EXPRESSION],
    ids=[*PASSED_THROUGH_TOOLS, "expression tool"],
)
def test_input_can_be_an_output(
    runner: Runner, root: Path, process: dict[str, Any], content: bytes, *, linked: bool, batch: int
) -> None:
    file = create_input(root, content, linked=linked)
    files = [file.model_copy(update={"seq": seq}) for seq in range(batch)]
    _require_separate_files(
        run(runner, make_task(root, process, batch=batch), files), root, content, batch
    )


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(
    "name", ["link to where it lies", "put into the work folder", "expression", "output object"]
)
def test_input_can_be_an_output_of_an_inner_workflow(
    runner: Runner, root: Path, name: str, *, linked: bool
) -> None:
    """cwltool removes its links to inputs together with the temporary folder of the tool."""
    file = create_input(root, _LARGE, linked=linked)
    _require_separate_files(
        run(
            runner,
            make_task(root, wrap_in_workflow(PASSED_THROUGH_TOOLS[name], mode="File")),
            [file],
        ),
        root,
        _LARGE,
        1,
    )


def _require_separate_files(
    report: AttemptReport, root: Path, content: bytes, outputs: int
) -> None:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert len(report.outputs) == outputs
    for stored in report.outputs:
        path = Path(stored.url.removeprefix("file://"))
        assert path.read_bytes() == content
        path.write_bytes(b"what is done to the output")
    assert (root / "in" / "a.dat").read_bytes() == content


def test_input_can_be_part_of_an_output_folder(runner: Runner, root: Path) -> None:
    folder = {"o": {"type": "Directory", "outputBinding": {"glob": "d"}}}
    process = make_link_tool(
        'mkdir d; ln -s "$0" d/x; ln -s x d/y; ln -s "$(dirname "$0")" d/in', outputs=folder
    )
    bundle = make_output(root, "o").model_copy(update={"kind": EntryKind.BUNDLE})
    report = run(
        runner,
        make_task(root, process, outputs=[bundle]),
        [create_input(root, _LARGE, linked=False)],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    place = Path(
        unpack(Path(report.outputs[0].url.removeprefix("file://")), root / "found")[
            "location"
        ].removeprefix("file://")
    )
    assert [(place / name).read_bytes() == _LARGE for name in ("x", "y", "in/a.dat")] == [
        True,
        True,
        True,
    ]


def test_input_can_be_an_output_of_an_invocation(runner: Runner, root: Path) -> None:
    stored_file = write_input(root / "store" / "files" / "a.dat", data=_LARGE)
    order = {"f": {"class": "File", "location": "files/a.dat", "checksum": stored_file.checksum}}
    for number, process in enumerate(PASSED_THROUGH_TOOLS.values()):
        report = run(
            runner,
            make_task(root, OPERATION),
            [write_invocation(root, process, order, name=str(number))],
            seq=number,
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        value = unpack(
            Path(report.outputs[0].url.removeprefix("file://")), root / f"found-{number}"
        )
        assert Path(value["o"]["location"].removeprefix("file://")).read_bytes() == _LARGE
