"""Tests of how processes with a CWL version of their own are written as files that cwltool
loads."""

import os
from pathlib import Path
from typing import Any

import pytest

from pilot.runner.cwl.documents import load_document
from pilot.runner.cwl.process_files import write_process

_TOOL = {"class": "CommandLineTool", "baseCommand": "true", "inputs": {}, "outputs": {}}


def _wrap_in_workflow(run: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "class": "Workflow",
        "inputs": {},
        "outputs": {},
        "steps": {"run": {"run": run, "in": {}, "out": []}},
        **fields,
    }


def _make_nested_workflow(*, as_list: bool) -> dict[str, Any]:
    old = _wrap_in_workflow({**_TOOL, "cwlVersion": "v1.2"}, cwlVersion="v1.0")
    nested = _wrap_in_workflow(
        _wrap_in_workflow(old),
        cwlVersion="v1.2",
        requirements={"SubworkflowFeatureRequirement": {}},
    )
    if as_list:
        nested["steps"] = [{"id": "run", **nested["steps"]["run"]}]
    return nested


@pytest.mark.parametrize("as_list", [True, False])
def test_each_process_keeps_its_version_and_no_file_is_left(tmp_path: Path, as_list: bool) -> None:
    loaded = load_document(
        _make_nested_workflow(as_list=as_list), str(tmp_path), subject="the process"
    )
    versions = []
    while True:
        versions.append(loaded.metadata["http://commonwl.org/cwltool#original_cwlVersion"])
        if not hasattr(loaded, "steps"):
            break
        loaded = loaded.steps[0].embedded_tool
    assert versions == ["v1.2", "v1.2", "v1.0", "v1.2"]
    assert os.listdir(tmp_path) == []


def test_namespaces_are_copied_to_inner_processes(tmp_path: Path) -> None:
    document = _wrap_in_workflow({**_TOOL, "cwlVersion": "v1.0"}, cwlVersion="v1.2") | {
        "$namespaces": {"x": "urn:x:"}
    }
    _, inner = write_process(document, str(tmp_path / "process.cwl"))
    assert '"$namespaces": {"x": "urn:x:"}' in Path(inner).read_text()
    assert inner.startswith(str(tmp_path))
