"""Tests of the stand-ins for tools of public workflows."""

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.stand_ins.__main__ import Result, _comparable, _try_workflows, _write_workflow

WORKFLOW = """
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs:
  reads: {type: "File[]", secondaryFiles: [.idx, ^.md?]}
  pair:
    type:
      type: record
      fields: {one: File, kind: {type: {type: enum, symbols: [left, right]}}}
  note: string?
  level: int?
  size: {type: int, default: 4}
outputs: {out: {type: "File[]", outputSource: align/out}}
steps:
  align:
    scatter: read
    in: {read: reads, pair: pair, size: size}
    out: [out]
    run:
      class: CommandLineTool
      hints: {DockerRequirement: {dockerPull: x}}
      baseCommand: align
      inputs: {read: {type: File, format: "http://x/y"}, pair: Any, size: int?}
      outputs: {out: stdout, log: {type: "File?", secondaryFiles: [.txt], outputBinding: {glob: x}}}
"""


def write_documents(tmp_path: Path, *, nulls: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    (tmp_path / "w.cwl").write_text(WORKFLOW)
    folder = tmp_path / "out"
    folder.mkdir()
    _write_workflow(tmp_path / "w.cwl", folder, nulls=nulls)
    workflow, order = ((folder / name).read_text() for name in ("workflow.cwl", "order.json"))
    return json.loads(workflow), json.loads(order)


def test_stand_in_has_the_interface_of_its_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workflow, _ = write_documents(tmp_path, nulls=True)
    tool = workflow["steps"]["align"]["run"]
    assert tool["class"] == "ExpressionTool"
    assert [port["id"] for port in tool["inputs"]] == ["read", "pair", "size"]
    assert tool["outputs"] == [
        {"id": "out", "type": "File"},
        {"id": "log", "type": "File?", "secondaryFiles": [".txt"]},
    ]
    assert '"log": (number % 2 ? null : file("log-" + h + ".txt"' in tool["expression"]
    assert "DockerRequirement" not in json.dumps(workflow)


def test_job_order_has_a_value_for_each_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, order = write_documents(tmp_path, nulls=True)
    assert order.keys() == {"reads", "pair", "level"}
    assert order["pair"]["kind"] == "left"
    names = [Path(file["path"]).name for file in order["reads"][1]["secondaryFiles"]]
    assert names == ["reads_2.txt.idx", "reads_2.md"]
    assert all(Path(file["path"]).is_file() for file in order["reads"])


def test_folder_may_be_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite" / "deep").mkdir(parents=True)
    (tmp_path / "suite" / "deep" / "w.cwl").write_text("cwlVersion: v1.2\nclass: Workflow\n")
    assert _try_workflows(Path("suite"), {}, limit=1, seed=1) == {Result.UNUSABLE: 1}
    assert capsys.readouterr().out.startswith("no stand-ins: deep/w.cwl (")


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ([[1, None], [2]], [1, 2], True),
        (None, [], True),
        ([1, 2], [2, 1], False),
        (
            {"class": "File", "location": "a", "basename": "x", "checksum": "c"},
            {"class": "File", "path": "b", "basename": "x", "checksum": "c", "size": 1},
            True,
        ),
        ({"class": "File", "basename": "x"}, {"class": "File", "basename": "y"}, False),
    ],
)
def test_outputs_are_compared_without_what_data_sets_lack(
    one: object, other: object, are_equal: bool
) -> None:
    assert (_comparable(one) == _comparable(other)) is are_equal
