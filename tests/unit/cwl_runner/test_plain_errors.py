"""Plain sentences in place of cwltool's exceptions."""

import json
import logging
from pathlib import Path

import pytest

from sluice.cwl_runner.command import main
from sluice.cwl_runner.plain_errors import PlainErrors

SCATTER = {
    "cwlVersion": "v1.2",
    "class": "Workflow",
    "requirements": {"ScatterFeatureRequirement": {}},
    "inputs": {"words": "string[]?"},
    "outputs": {"said": {"type": "Any", "outputSource": "each/said"}},
    "steps": {
        "each": {
            "scatter": "word",
            "in": {"word": "words"},
            "out": ["said"],
            "run": {
                "class": "CommandLineTool",
                "baseCommand": "echo",
                "inputs": {"word": {"type": "string", "inputBinding": {}}},
                "outputs": {"said": "stdout"},
            },
        }
    },
}


def test_scatter_over_null_is_explained_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    process = tmp_path / "scatter.cwl"
    process.write_text(json.dumps(SCATTER))
    assert main(["--url", "http://127.0.0.1:9", str(process)]) != 0
    stderr = capfd.readouterr().err
    assert "a step scatters over an input that has no value (null)" in stderr
    assert "Traceback" not in stderr


def test_other_exceptions_become_a_sentence() -> None:
    record = logging.LogRecord("cwltool", logging.ERROR, "", 0, "Unhandled", (), None)
    try:
        raise ValueError("no such thing")
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
    assert PlainErrors().filter(record)
    assert record.getMessage() == "cwltool cannot continue: no such thing (--debug shows where)"
    assert record.exc_info is None
