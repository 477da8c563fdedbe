"""`sluice template check`: the checker for editors, hooks and continuous integration."""

import json
from pathlib import Path

import pytest

from sluice.cli.commands.templates.template import annotation
from sluice.contracts.common.problems import Finding
from tests.unit.cli.check_command import check
from tests.unit.cwl.samples import LINEAR, edit_text

SLOW = ("      requirements:\n        ToolTimeLimit: {timelimit: 10}\n  join", "  join")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.cwl"
    path.write_text(edit_text(SLOW))
    return path


@pytest.fixture
def wrong_template(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.cwl"
    path.write_text(
        edit_text(("type: int\n    default: 5", "type: int\n    default: five"), text=LINEAR)
    )
    return path


def test_check_prints_a_summary_or_errors_as_text(good: Path, wrong_template: Path) -> None:
    code, text = check(good)
    assert code == 0
    assert f"{good}: fine; 2 steps: count (map), join (merge)" in text
    checkpoint = "sluice:checkpoint: {files: [state/*], every: 30}"
    good.write_text(good.read_text().replace("sluice:boundary: {minimum: 0.9}", checkpoint))
    assert "count (map, a checkpoint every 30 s), join (merge)" in check(good)[1]
    code, text = check(good, wrong_template)
    assert code == 1
    assert (
        f"{wrong_template}:13:5: error: the default of parameter 'limit' must be of type int"
        in text
    )


def test_check_prints_json_for_one_template_and_for_several(
    good: Path, wrong_template: Path
) -> None:
    code, text = check("--format", "json", good)
    assert (code, json.loads(text)["plan"]["name"]) == (0, "good")
    code, text = check("--format", "json", wrong_template, good)
    assert code == 1
    assert [one["plan"] is None for one in json.loads(text)] == [True, False]


def test_check_prints_annotations_for_github(good: Path, wrong_template: Path) -> None:
    code, text = check("--format", "github", good, wrong_template)
    assert code == 1
    warning, error = text.splitlines()
    assert warning.startswith(
        f"::warning file={good},line=20,col=3::step 'count' has no time limit"
    )
    assert error.startswith(
        f"::error file={wrong_template},line=13,col=5::the default of parameter 'limit'"
    )


def test_annotations_are_escaped() -> None:
    finding = Finding(message="50 % of\nit", file="a,b:c%.cwl", line=3)
    assert annotation(finding) == "::error file=a%2Cb%3Ac%25.cwl,line=3::50 %25 of%0Ait"
