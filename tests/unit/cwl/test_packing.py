"""Workflows whose tools stand in files of their own."""

from pathlib import Path

import pytest

from sluice.cwl import PackError, compile_file, compile_template, pack_template
from tests.unit.cwl.samples import LINEAR

_JOIN = LINEAR.index("      class: CommandLineTool\n      baseCommand: cat")
WORKFLOW = LINEAR[:_JOIN].rstrip().removesuffix("run:") + "run: tools/join.cwl\n"
TOOL = "cwlVersion: v1.2\n" + "\n".join(line[6:] for line in LINEAR[_JOIN:].splitlines()) + "\n"


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "join.cwl").write_text(TOOL)
    path = tmp_path / "workflow.cwl"
    path.write_text(WORKFLOW)
    return path


def test_a_packed_workflow_is_the_same_as_one_written_in_one_piece(workflow: Path) -> None:
    packed = compile_template(pack_template(workflow), name="t")
    assert packed.plan == compile_template(LINEAR, name="t").plan
    compiled, text = compile_file(workflow, name="t")
    assert compiled.plan == packed.plan
    assert text == pack_template(workflow)


def test_a_workflow_in_one_piece_stays_as_written(tmp_path: Path) -> None:
    path = tmp_path / "workflow.cwl"
    for text in ("# mine\n" + LINEAR, "not: [CWL", "a: 1\na: 2\n"):
        path.write_text(text)
        assert pack_template(path) == text


def test_findings_name_the_file_they_are_in(workflow: Path) -> None:
    tool = workflow.parent / "tools" / "join.cwl"
    tool.write_text(TOOL.replace("baseCommand", "baseComand").replace("joined: stdout", "joined: int"))
    compiled, _ = compile_file(workflow, name="t")
    assert compiled.plan is None
    assert [(Path(error.file or "").relative_to(workflow.parent).as_posix(), error.line) for error in compiled.errors] == [
        ("tools/join.cwl", 3),
        ("workflow.cwl", 18),
    ]


def test_imports_and_inclusions_are_put_in_place(workflow: Path) -> None:
    folder = workflow.parent / "tools"
    (folder / "ports.yml").write_text("parts: File[]\nnote: string?\n")
    (folder / "about.txt").write_text("Joins: all")
    imported = TOOL.replace("  parts: File[]\n  note: string?\n", "  $import: ports.yml\n") + "doc: {$include: about.txt}\n"
    (folder / "join.cwl").write_text(imported)
    compiled, text = compile_file(workflow, name="t")
    assert compiled.plan is not None, compiled.findings
    assert compiled.plan.steps[1].tool["doc"] == "Joins: all"
    assert "$import" not in text


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("tools/none.cwl", "cannot be read: No such file"),
        ("https://example.org/x.cwl", "is an address"),
        ("workflow.cwl", "refers to itself"),
        ("tools/binary.cwl", "not text in UTF-8"),
        ("tools/broken.cwl", "not YAML"),
    ],
)
def test_what_cannot_be_packed_is_told_with_its_place(workflow: Path, run: str, message: str) -> None:
    (workflow.parent / "tools" / "binary.cwl").write_bytes(b"\xff\xfe\x00")
    (workflow.parent / "tools" / "broken.cwl").write_text("a: [")
    workflow.write_text(WORKFLOW.replace("tools/join.cwl", run))
    with pytest.raises(PackError) as caught:
        pack_template(workflow)
    finding = caught.value.findings[0]
    assert message in finding.message
    assert finding.line is not None
    assert compile_file(workflow, name="t")[0].plan is None
