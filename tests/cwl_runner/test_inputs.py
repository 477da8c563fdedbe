"""Inputs of `sluice cwl-runner`: their order, names of files, and unsupported extensions."""

from pathlib import Path
from typing import Any

import pytest

from sluice.cwl_runner.command import main
from tests.cwl_runner.runners import (
    TOOL,
    Run,
    make_echo_tool,
    require_same_answers,
    run_in,
    write_document,
)

pytestmark = pytest.mark.xdist_group("cwl-runner")


def test_missing_input_is_reported_like_by_cwltool(run_both: Run, tmp_path: Path) -> None:
    tool = write_document(
        tmp_path,
        "tool.cwl",
        make_echo_tool(inputs={"word": {"type": "string", "inputBinding": {}}}),
    )
    _, actual = answers = run_both(tool)
    require_same_answers(answers, status=2)
    assert "the following arguments are required: --word" in actual.stderr


def test_option_after_the_process_is_an_input(url: str, tmp_path: Path) -> None:
    tool = write_document(
        tmp_path,
        "tool.cwl",
        make_echo_tool(inputs={"outdir": {"type": "string", "inputBinding": {}}}),
    )
    done = run_in(tmp_path, ["sluice-cwl-runner", "--url", url], [tool, "--outdir", "value"], {})
    assert (tmp_path / "sluice-cwl-runner" / "out.txt").read_text() == "value\n", done.stderr


def test_misplaced_option_is_reported(url: str, tmp_path: Path) -> None:
    done = run_in(
        tmp_path,
        ["sluice-cwl-runner", "--url", url],
        [write_document(tmp_path, "tool.cwl", make_echo_tool("x")), "--outdir", "out"],
        {},
    )
    assert done.returncode == 2
    assert "--outdir comes after the process" in done.stderr


@pytest.mark.parametrize("options", [[], ["--relax-path-checks"]], ids=["simple", "relaxed"])
def test_file_may_have_any_name(url: str, tmp_path: Path, options: list[str]) -> None:
    name = "ä run #7?%41.txt"
    (tmp_path / name).write_text("seven\n")
    inputs = {"file": {"type": "File", "inputBinding": {}}}
    tool = write_document(
        tmp_path,
        "tool.cwl",
        TOOL | {"baseCommand": ["grep", "-H", ""], "inputs": inputs, "stdout": "out.txt"},
    )
    order = write_document(tmp_path, "order.json", {"file": {"class": "File", "path": name}})
    done = run_in(tmp_path, ["sluice-cwl-runner", "--url", url], [*options, tool, order], {})
    assert done.returncode == 0, done.stderr
    output = (tmp_path / "sluice-cwl-runner" / "out.txt").read_text()
    assert output.endswith(f"/{name}:seven\n")


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [
        ({"Secrets": {"secrets": ["word"]}}, "cwltool:Secrets"),
        ({"MPIRequirement": {"processes": 2}}, "cwltool:MPIRequirement"),
    ],
    ids=["secrets", "mpi"],
)
def test_extension_that_would_change_the_result_is_unsupported(
    url: str, tmp_path: Path, requirement: dict[str, Any], sentence: str
) -> None:
    [(name, fields)] = requirement.items()
    document = make_echo_tool(inputs={"word": {"type": "string", "inputBinding": {}}}) | {
        "$namespaces": {"cwltool": "http://commonwl.org/cwltool#"},
        "hints": {f"cwltool:{name}": fields},
    }
    tool = write_document(tmp_path, "tool.cwl", document)
    done = run_in(
        tmp_path,
        ["sluice-cwl-runner", "--url", url],
        ["--enable-ext", tool, "--word", "hidden"],
        {},
    )
    assert (done.returncode, done.stdout) == (33, ""), done.stderr
    assert sentence in done.stderr


@pytest.mark.parametrize(
    "extension",
    [{"Secrets": {"secrets": ["word"]}}, {"MPIRequirement": {"processes": 2}}],
    ids=["secrets", "mpi"],
)
@pytest.mark.parametrize("place", ["step", "tool of the step", "job order", "overrides"])
def test_unsupported_extension_is_found_in_every_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], extension: dict[str, Any], place: str
) -> None:
    [(name, fields)] = extension.items()
    hint_fields = {"hints": {f"cwltool:{name}": fields}}
    tool = make_echo_tool(inputs={"word": {"type": "string", "inputBinding": {}}}) | (
        hint_fields if place == "tool of the step" else {}
    )
    step = {"run": tool, "in": {"word": "word"}, "out": ["out"]} | (
        hint_fields if place == "step" else {}
    )
    process = {
        "$namespaces": {"cwltool": "http://commonwl.org/cwltool#"},
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"word": "string"},
        "outputs": {"out": {"type": "File", "outputSource": "said/out"}},
        "steps": {"said": step},
    }
    requirement = {"class": f"cwltool:{name}", **fields}
    order: dict[str, Any] = {"word": "hidden"}
    if place == "job order":
        order["cwl:requirements"] = [requirement]
    if place == "overrides":
        order["cwltool:overrides"] = {"process.cwl#said": {"requirements": [requirement]}}
    options = [
        "--enable-ext",
        write_document(tmp_path, "process.cwl", process),
        write_document(tmp_path, "order.json", order),
    ]
    assert (
        main(["--url", "http://127.0.0.1:9", *options]) == 33
    )  # Nothing is sent before the check.
    assert f"cwltool:{name} is not supported" in capfd.readouterr().err
