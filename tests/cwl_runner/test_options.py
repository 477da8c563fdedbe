"""Options of `sluice cwl-runner`: each does what it does with the reference runner, or is refused
by its name."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cwltool.argparser import arg_parser

from sluice.cwl_runner.command import main
from sluice.cwl_runner.options import CARRIED_OUT, REFUSED, REFUSED_VALUES, OptionRefused, parse

pytestmark = pytest.mark.xdist_group("cwl-runner")

PROGRAMS = Path(sys.executable).parent
CASES = Path(__file__).parent / "cases"
DOCUMENTS = Path(__file__).parents[2] / "docs" / "how-to" / "run-any-cwl.md"

Answers = list[subprocess.CompletedProcess[str]]
Run = Callable[..., Answers]


@pytest.fixture
def both(url: str, tmp_path: Path) -> Run:
    """The reference runner's answer and ours, each in a folder of its own."""

    def run(*arguments: str, cwltool: Sequence[str] = (), **environment: str) -> Answers:
        commands = (["cwltool", *cwltool], ["sluice-cwl-runner", "--url", url])
        return [_run(tmp_path, command, arguments, environment) for command in commands]

    return run


def _run(
    folder: Path, command: Sequence[str], arguments: Sequence[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    out = folder / command[0]
    out.mkdir()
    return subprocess.run(
        [str(PROGRAMS / command[0]), *command[1:], *arguments],
        cwd=out,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _outputs(done: subprocess.CompletedProcess[str]) -> Any:
    """The output object, without places and names that were drawn."""

    def plain(value: Any) -> Any:
        match value:
            case dict():
                return {
                    key: plain(one)
                    for key, one in value.items()
                    if key not in ("location", "path") and not str(one).startswith("_:")
                }
            case list():
                return [plain(one) for one in value]
        return value

    return plain(json.loads(done.stdout)) if done.stdout.startswith("{") else done.stdout


def _same(answers: Sequence[subprocess.CompletedProcess[str]], status: int = 0) -> Any:
    theirs, ours = answers
    assert (ours.returncode, theirs.returncode) == (status, status), theirs.stderr + ours.stderr
    assert _outputs(ours) == _outputs(theirs)
    return _outputs(ours)


TOOL = {
    "cwlVersion": "v1.2",
    "class": "CommandLineTool",
    "inputs": {},
    "outputs": {"out": "stdout"},
    "stdout": "out.txt",
}


def _echo(*words: str, **more: Any) -> dict[str, Any]:
    return TOOL | {"baseCommand": ["echo", *words]} | more


def _write(folder: Path, name: str, document: dict[str, Any]) -> str:
    (folder / name).write_text(json.dumps(document))
    return str(folder / name)


def _workflow(folder: Path) -> str:
    """Two steps one behind the other, and one beside them."""
    line = {"line": {"type": "string", "inputBinding": {}}}
    said = {
        "out": {
            "type": "string",
            "outputBinding": {
                "glob": "out.txt",
                "loadContents": True,
                "outputEval": "$(self[0].contents)",
            },
        }
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"word": {"type": "string", "default": "beam"}},
        "outputs": {
            name: {"type": "string", "outputSource": f"{name}/out"} for name in ("second", "beside")
        },
        "steps": {
            "first": {
                "run": _echo("1", inputs=line, outputs=said),
                "in": {"line": "word"},
                "out": ["out"],
            },
            "second": {
                "run": _echo("2", inputs=line, outputs=said),
                "in": {"line": "first/out"},
                "out": ["out"],
            },
            "beside": {
                "run": _echo("3", inputs=line, outputs=said),
                "in": {"line": "word"},
                "out": ["out"],
            },
        },
    }
    return _write(folder, "workflow.cwl", document)


def _stops(folder: Path) -> str:
    """A step that fails at once, and three that follow one another beside it."""
    fails = TOOL | {"baseCommand": "false", "outputs": {}}
    goes = _echo("x", inputs={"before": "File?"})
    chain = {
        f"step{n}": {"run": goes, "in": {"before": f"step{n - 1}/out"} if n else {}, "out": ["out"]}
        for n in range(3)
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {},
        "outputs": {"last": {"type": "File?", "outputSource": "step2/out"}},
        "steps": {"fails": {"run": fails, "in": {}, "out": []}, **chain},
    }
    return _write(folder, "stops.cwl", document)


def test_every_option_of_cwltool_is_carried_out_or_refused() -> None:
    """Another version's options have to be looked at."""
    known = {action.dest for action in arg_parser()._actions}
    assert set(REFUSED) | CARRIED_OUT == known
    assert not set(REFUSED) & CARRIED_OUT
    assert {dest for dest, _ in REFUSED_VALUES} <= CARRIED_OUT


def _given(action: Any) -> list[str]:
    """The option, with a value other than the default's where it takes one."""
    if action.nargs == 0:
        return [action.option_strings[0]]
    return [action.option_strings[0], "61" if action.type is float else "something"]


REFUSED_OPTIONS = [
    _given(action)
    for action in arg_parser()._actions
    if action.dest in REFUSED and not (action.nargs == 0 and action.const == action.default)
]


@pytest.mark.parametrize(
    "option", [*REFUSED_OPTIONS, ["--leave-outputs"], ["--udocker"]], ids=lambda option: option[0]
)
def test_what_cannot_be_carried_out_is_refused_by_its_name(option: list[str]) -> None:
    with pytest.raises(OptionRefused, match=re.escape(f"{option[0]} is not supported: ")):
        parse([*option, "tool.cwl"], ours=[])
    assert f"`{option[0]}`" in DOCUMENTS.read_text()


@pytest.mark.parametrize(
    "option", ["--rm-tmpdir", "--rm-container", "--enable-pull", "--move-outputs", "--copy-outputs"]
)
def test_what_is_so_anyhow_is_taken(option: str) -> None:
    assert parse([option, "tool.cwl"], ours=[]).workflow == "tool.cwl"


def test_a_refused_option_starts_nothing(tmp_path: Path) -> None:
    command = ["sluice-cwl-runner", "--home", str(tmp_path / "home"), "--cachedir", "c"]
    done = _run(tmp_path, command, ["tool.cwl"], {})
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "sluice: --cachedir is not supported: nothing is taken from an earlier run\n"
    )
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--validate", "--quiet"],
        ["--print-targets"],
        ["--make-template"],
        ["--print-subgraph", "--target", "beside"],
        ["--print-dot"],
    ],
    ids=lambda options: options[0],
)
def test_what_runs_nothing_needs_no_system(options: list[str], tmp_path: Path) -> None:
    workflow = _workflow(tmp_path)
    theirs = _run(tmp_path, ["cwltool"], [*options, workflow], {})
    ours = _run(
        tmp_path, ["sluice-cwl-runner", "--home", str(tmp_path / "home")], [*options, workflow], {}
    )
    _same([theirs, ours])
    assert not (tmp_path / "home").exists()


def test_validation_looks_at_the_order_too(both: Run, tmp_path: Path) -> None:
    order = _write(tmp_path, "order.json", {"word": 3})
    _same(both("--validate", "--no-warnings", _workflow(tmp_path), order), status=1)


def test_a_target_alone_is_made(both: Run, tmp_path: Path) -> None:
    assert _same(both("--target", "beside", _workflow(tmp_path))) == {"beside": "3 beam\n"}


def test_a_single_step_runs_alone(both: Run, tmp_path: Path) -> None:
    outputs = _same(
        both(
            "--single-step",
            "first",
            _workflow(tmp_path),
            _write(tmp_path, "order.json", {"line": "x"}),
        )
    )
    assert outputs == {"out": "1 x\n"}


def test_overrides_hold(both: Run, tmp_path: Path) -> None:
    tool = _write(tmp_path, "tool.cwl", TOOL | {"baseCommand": ["sh", "-c", "echo $WORD"]})
    overrides = {
        "cwltool:overrides": {
            tool: {"requirements": {"EnvVarRequirement": {"envDef": {"WORD": "overridden"}}}}
        }
    }
    answers = both("--overrides", _write(tmp_path, "overrides.json", overrides), tool)
    assert _same(answers)["out"]["size"] == len("overridden\n")


def test_extensions_are_enabled(both: Run, tmp_path: Path) -> None:
    """A loop: it is not part of CWL v1.2."""
    step = {
        "run": {
            "class": "ExpressionTool",
            "inputs": {"n": "int"},
            "outputs": {"m": "int"},
            "expression": "${return {m: inputs.n + 1};}",
        },
        "in": {"n": "start"},
        "out": ["m"],
        "requirements": {
            "cwltool:Loop": {
                "loopWhen": "$(inputs.n < 5)",
                "loop": {"n": "m"},
                "outputMethod": "last",
            }
        },
    }
    document = {
        "cwlVersion": "v1.2",
        "$namespaces": {"cwltool": "http://commonwl.org/cwltool#"},
        "class": "Workflow",
        "requirements": {"InlineJavascriptRequirement": {}},
        "inputs": {"start": "int"},
        "outputs": {"m": {"type": "int", "outputSource": "count/m"}},
        "steps": {"count": step},
    }
    assert _same(both("--enable-ext", _write(tmp_path, "loop.cwl", document), "--start", "1")) == {
        "m": 5
    }


def test_after_an_error_it_goes_on_where_asked_to(both: Run, tmp_path: Path) -> None:
    outputs = _same(both("--on-error", "continue", _stops(tmp_path)), status=1)
    assert outputs["last"] is not None


def test_after_an_error_no_more_steps_are_begun(url: str, tmp_path: Path) -> None:
    """The reference runner shuffles steps, so what it has done before the error is another thing
    each time."""
    done = _run(
        tmp_path, ["sluice-cwl-runner", "--url", url], ["--parallel-max", "1", _stops(tmp_path)], {}
    )
    assert (done.returncode, _outputs(done)) == (1, {"last": None}), done.stderr


def test_no_more_run_at_a_time_than_allowed(url: str, tmp_path: Path) -> None:
    """Each tool waits for another of its kind, which never comes."""
    meets = (
        f"echo > {tmp_path}/$0.here; n=0; while [ $n -lt 20 ]; do set -- {tmp_path}/*.here; [ $#"
        f" -gt 1 ] && exit 7; sleep 0.05; n=$((n+1)); done; rm {tmp_path}/$0.here"
    )
    tool = TOOL | {
        "baseCommand": ["sh", "-c", meets],
        "inputs": {"n": {"type": "int", "inputBinding": {}}},
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "requirements": {"ScatterFeatureRequirement": {}},
        "inputs": {"n": "int[]"},
        "outputs": {},
        "steps": {"meet": {"run": tool, "scatter": "n", "in": {"n": "n"}, "out": ["out"]}},
    }
    workflow = _write(tmp_path, "meet.cwl", document)
    order = _write(tmp_path, "order.json", {"n": [1, 2, 3]})
    done = _run(
        tmp_path, ["sluice-cwl-runner", "--url", url], ["--parallel-max", "1", workflow, order], {}
    )
    assert done.returncode == 0, done.stderr


def test_variables_are_preserved_where_they_are_named(both: Run, tmp_path: Path) -> None:
    tool = _write(tmp_path, "tool.cwl", TOOL | {"baseCommand": ["sh", "-c", "echo $FIRST $SECOND"]})
    outputs = _same(both("--preserve-environment", "FIRST", tool, FIRST="eins", SECOND="zwei"))
    assert outputs["out"]["size"] == len("eins\n")


def test_the_summary_goes_to_a_file(both: Run, tmp_path: Path) -> None:
    theirs, ours = both("--write-summary", "summary.json", _write(tmp_path, "tool.cwl", _echo("x")))
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout) == (0, "")
    assert (
        json.loads((tmp_path / "sluice-cwl-runner" / "summary.json").read_text())["out"]["size"]
        == 2
    )


@pytest.mark.parametrize(("kind", "status"), [("hints", 0), ("requirements", 33)])
def test_containers_may_be_forbidden(both: Run, tmp_path: Path, kind: str, status: int) -> None:
    tool = _write(
        tmp_path,
        "tool.cwl",
        _echo("x", **{kind: {"DockerRequirement": {"dockerPull": "nowhere/such:1"}}}),
    )
    _same(both("--no-container", tool), status=status)


def test_a_missing_input_is_told_as_other_runners_do(both: Run, tmp_path: Path) -> None:
    tool = _write(
        tmp_path, "tool.cwl", _echo(inputs={"word": {"type": "string", "inputBinding": {}}})
    )
    _, ours = answers = both(tool)
    _same(answers, status=2)
    assert "the following arguments are required: --word" in ours.stderr


def test_an_option_behind_the_process_is_an_input(url: str, tmp_path: Path) -> None:
    tool = _write(
        tmp_path, "tool.cwl", _echo(inputs={"outdir": {"type": "string", "inputBinding": {}}})
    )
    done = _run(tmp_path, ["sluice-cwl-runner", "--url", url], [tool, "--outdir", "value"], {})
    assert (tmp_path / "sluice-cwl-runner" / "out.txt").read_text() == "value\n", done.stderr


def test_an_option_at_the_wrong_place_is_told(url: str, tmp_path: Path) -> None:
    done = _run(
        tmp_path,
        ["sluice-cwl-runner", "--url", url],
        [_write(tmp_path, "tool.cwl", _echo("x")), "--outdir", "out"],
        {},
    )
    assert done.returncode == 2
    assert "--outdir stands behind the process" in done.stderr


@pytest.mark.parametrize("options", [[], ["--relax-path-checks"]], ids=["simple", "relaxed"])
def test_a_file_may_have_any_name(url: str, tmp_path: Path, options: list[str]) -> None:
    name = "ä run #7?%41.txt"
    (tmp_path / name).write_text("seven\n")
    inputs = {"file": {"type": "File", "inputBinding": {}}}
    tool = _write(
        tmp_path,
        "tool.cwl",
        TOOL | {"baseCommand": ["grep", "-H", ""], "inputs": inputs, "stdout": "out.txt"},
    )
    order = _write(tmp_path, "order.json", {"file": {"class": "File", "path": name}})
    done = _run(tmp_path, ["sluice-cwl-runner", "--url", url], [*options, tool, order], {})
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "sluice-cwl-runner" / "out.txt").read_text()
    assert said.endswith(f"/{name}:seven\n")


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [
        ({"Secrets": {"secrets": ["word"]}}, "cwltool:Secrets"),
        ({"MPIRequirement": {"processes": 2}}, "cwltool:MPIRequirement"),
    ],
    ids=["secrets", "mpi"],
)
def test_what_would_give_other_data_is_not_supported(
    url: str, tmp_path: Path, requirement: dict[str, Any], sentence: str
) -> None:
    [(name, fields)] = requirement.items()
    document = _echo(inputs={"word": {"type": "string", "inputBinding": {}}}) | {
        "$namespaces": {"cwltool": "http://commonwl.org/cwltool#"},
        "hints": {f"cwltool:{name}": fields},
    }
    tool = _write(tmp_path, "tool.cwl", document)
    done = _run(
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
def test_what_would_give_other_data_is_found_wherever_it_stands(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], extension: dict[str, Any], place: str
) -> None:
    [(name, fields)] = extension.items()
    asked = {"hints": {f"cwltool:{name}": fields}}
    tool = _echo(inputs={"word": {"type": "string", "inputBinding": {}}}) | (
        asked if place == "tool of the step" else {}
    )
    step = {"run": tool, "in": {"word": "word"}, "out": ["out"]} | (
        asked if place == "step" else {}
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
        _write(tmp_path, "process.cwl", process),
        _write(tmp_path, "order.json", order),
    ]
    assert main(["--url", "http://127.0.0.1:9", *options]) == 33  # before anything is sent
    assert f"cwltool:{name} is not supported" in capfd.readouterr().err
