"""Warm workers (``sluice:warm``) of `sluice cwl-runner` give the same outputs with fewer processes.

Tools that cannot be warm workers are refused.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sluice.cwl_runner.command import main
from tests.cwl_runner.runners import Run, read_outputs, require_same_answers, run_in, write_document

pytestmark = pytest.mark.xdist_group("cwl-runner")

NAMESPACES = {"sluice": "urn:sluice:cwl:"}
#: Prints its word, the content of its loaded file, and the number of jobs it has served.
COUNTS = """
from sluice.warm import once, serve
served = []
@once
def load(path):
    with open(path) as file:
        return file.read()
def main(arguments):
    served.append(1)
    word, model = arguments[:2]
    print(word, load(model), end='')
    if arguments[2:]:
        print(len(served), end='')
serve(main)
"""


def make_tool(*more: str, **fields: Any) -> dict[str, Any]:
    """Return a tool; with arguments in ``more`` it prints the number of jobs of its process."""
    return {
        "class": "CommandLineTool",
        "baseCommand": [sys.executable, "-c", COUNTS],
        "inputs": {"word": "string", "model": "File"},
        "arguments": ["$(inputs.word)", "$(inputs.model)", *more],
        "stdout": "out",
        "outputs": {"out": "stdout"},
        "requirements": {"ToolTimeLimit": {"timelimit": 60}},
        **fields,
    }


def make_workflow(run: dict[str, Any], **step: Any) -> dict[str, Any]:
    return {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "$namespaces": NAMESPACES,
        "requirements": {"ScatterFeatureRequirement": {}},
        "inputs": {"words": "string[]", "model": "File"},
        "outputs": {"outs": {"type": "File[]", "outputSource": "say/out"}},
        "steps": {
            "say": {
                "scatter": "word",
                "in": {"word": "words", "model": "model"},
                "out": ["out"],
                "run": run,
                **step,
            }
        },
    }


#: Slots of the shared system, which has two pilots.
SLOTS = 4
WARM = {"sluice:warm": {"key": ["model"], "idle": 60}}


@pytest.fixture
def order(tmp_path: Path) -> str:
    (tmp_path / "model").write_text("small ")
    model = {"class": "File", "path": "model"}
    return write_document(tmp_path, "order.json", {"words": list("abcdefgh"), "model": model})


def read_texts(value: Any) -> list[str]:
    return [Path(one["path"]).read_text() for one in value["outs"]]


def run_with_sluice(url: str, folder: Path, *arguments: str) -> tuple[int, list[str], str]:
    """Return status, texts of the outputs, and standard error."""
    folder.mkdir()
    done = run_in(folder, ["sluice-cwl-runner", "--url", url], arguments, {})
    output_texts = read_texts(json.loads(done.stdout)) if done.returncode == 0 else []
    return done.returncode, output_texts, done.stderr


def test_warm_worker_gives_the_same_outputs_as_other_runners_and_cold_tools(
    run_both: Run, url: str, tmp_path: Path, order: str
) -> None:
    warm = require_same_answers(
        run_both(write_document(tmp_path, "warm.cwl", make_workflow(make_tool(), **WARM)), order)
    )
    (tmp_path / "cold").mkdir()
    cold = write_document(tmp_path, "cold.cwl", make_workflow(make_tool()))
    done = run_in(tmp_path / "cold", ["sluice-cwl-runner", "--url", url], [cold, order], {})
    assert read_outputs(done) == warm


def test_process_of_a_warm_worker_serves_jobs_of_several_runs(
    url: str, tmp_path: Path, order: str
) -> None:
    warm_tool = {"sluice:warm": {"idle": 60}}
    document = write_document(tmp_path, "warm.cwl", make_workflow(make_tool("count"), **warm_tool))
    served = list[int]()
    for number in range(2):
        status, output_texts, stderr = run_with_sluice(url, tmp_path / f"{number}", document, order)
        assert status == 0, stderr
        assert [text.split()[:2] for text in output_texts] == [
            [word, "small"] for word in "abcdefgh"
        ]
        served += [int(text.split()[2]) for text in output_texts]
    assert served.count(1) <= SLOTS
    assert sorted(served)[-1] >= len(served) / SLOTS


def test_another_file_in_the_key_gets_another_process(url: str, tmp_path: Path, order: str) -> None:
    steps = make_workflow(make_tool("count"), **WARM)
    steps["inputs"] = {"words": "string[]", "models": "File[]"}
    steps["requirements"]["StepInputExpressionRequirement"] = {}
    steps["steps"]["say"] |= {
        "scatter": ["word", "model"],
        "scatterMethod": "flat_crossproduct",
        "in": {"word": "words", "model": "models"},
    }
    models = []
    for name in ("small", "large"):
        (tmp_path / name).write_text(f"{name} ")
        models.append({"class": "File", "path": name})
    order_file = write_document(tmp_path, "models.json", {"words": list("abc"), "models": models})
    document = write_document(tmp_path, "warm.cwl", steps)
    status, output_texts, stderr = run_with_sluice(url, tmp_path / "out", document, order_file)
    assert status == 0, stderr
    loaded = [text.split()[:2] for text in output_texts]
    assert loaded == [[word, model] for word in "abc" for model in ("small", "large")]


def test_step_overrides_the_warm_declaration_of_its_tool(
    url: str, tmp_path: Path, order: str
) -> None:
    declared_tool = make_tool("count", **{"sluice:warm": True})
    for number, (step, max_jobs) in enumerate([({}, SLOTS), ({"sluice:warm": False}, 8)]):
        document = write_document(tmp_path, f"{number}.cwl", make_workflow(declared_tool, **step))
        status, output_texts, stderr = run_with_sluice(url, tmp_path / f"{number}", document, order)
        assert status == 0, stderr
        new_process_count = sum(text.split()[2] == "1" for text in output_texts)
        assert new_process_count <= max_jobs if max_jobs == SLOTS else new_process_count == max_jobs


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "standard input": (make_tool(stdin="$(inputs.model.path)"), {}, "its standard input brings"),
    "a shell": (
        make_tool(requirements={"ShellCommandRequirement": {}}), {}, "is run by a shell",
    ),
    "no program": (
        {key: value for key, value in make_tool().items() if key != "baseCommand"}, {},
        "it has no baseCommand",
    ),
    "an environment of the job": (
        make_tool(requirements={"EnvVarRequirement": {"envDef": {"A": "$(inputs.word)"}}}), {},
        "its environment depends on the job",
    ),
    "a key that is no input": (
        make_tool(), {"sluice:warm": {"key": ["models"]}}, "has no input 'models'",
    ),
    "a word that it does not know": (
        make_tool(), {"sluice:warm": {"keys": ["model"]}}, "it has no field 'keys'",
    ),
    "no jobs": (make_tool(), {"sluice:warm": {"jobs": 0}}, "'sluice:warm' jobs: "),
    "no mapping": (make_tool(), {"sluice:warm": "yes"}, "is true, or a mapping"),
    "another class": (
        {
            "class": "ExpressionTool",
            "requirements": {"InlineJavascriptRequirement": {}},
            "inputs": {"word": "string", "model": "File"},
            "outputs": {"out": "File"},
            "expression": "${return {out: inputs.model};}",
        },
        {},
        "of class ExpressionTool; only a CommandLineTool stays loaded",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_tool_that_cannot_be_warm_is_refused_before_anything_runs(
    case: str, tmp_path: Path, order: str, capfd: pytest.CaptureFixture[str]
) -> None:
    run, step, sentence = REFUSED[case]
    document = write_document(tmp_path, "warm.cwl", make_workflow(run, **{**WARM, **step}))
    unreachable = ["--url", "http://127.0.0.1:9", "--outdir", str(tmp_path)]
    assert main([*unreachable, document, order]) in (1, 33)
    message = " ".join(capfd.readouterr().err.split())
    assert sentence in message


def test_undeclared_prefix_is_reported(
    tmp_path: Path, order: str, capfd: pytest.CaptureFixture[str]
) -> None:
    document = make_workflow(make_tool(), **WARM)
    del document["$namespaces"]
    written = write_document(tmp_path, "warm.cwl", document)
    assert main(["--url", "http://127.0.0.1:9", written, order]) != 0
    assert "the prefix 'sluice' is not declared" in " ".join(capfd.readouterr().err.split())
