"""Tests that outputs of a job belong to the job. Each attack is a real job in a real slot process
and ends in an error with a reason."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome, EntryKind
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.needs import Container, ContainerImage
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.attacks.tools.outputs import (
    ATTACKS,
    BATCH,
    CONTAINER,
    EXPRESSIONS,
    INNER_CONTAINER,
    INVOCATION,
    WORKFLOW,
    Attack,
)
from tests.attacks.tools.victims import MARK, Victims
from tests.servers.podman import IMAGE, Podman
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.invocations import OPERATION, write_invocation
from tests.unit.pilot.runner.containers.podman_slot import find_podman, start_slot
from tests.unit.pilot.slot_runner import Runner

_UP = "/".join([".."] * 30)
_CONTAINERS = (CONTAINER, INNER_CONTAINER)


@pytest.fixture(scope="module")
def container_runner(podman: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = start_slot(podman, find_podman(podman), tmp_path_factory.mktemp("node"))
    yield runner
    runner.close()


@pytest.fixture
def victims(tmp_path: Path) -> Victims:
    return Victims(tmp_path / "foreign")


def _make_cases(*, contained: bool) -> list[Any]:
    pairs = [
        (attack, way)
        for attack in ATTACKS
        for way in attack.executions
        if (way in _CONTAINERS) == contained
    ]
    again = pytest.mark.long("each attack fails in a container, and in an inner workflow")
    return [
        pytest.param(
            attack,
            way,
            id=f"{attack.name}, {way}",
            marks=[again] if way == INNER_CONTAINER else [],
        )
        for attack, way in pairs
    ]


@pytest.mark.parametrize(("attack", "way"), _make_cases(contained=False))
def test_job_cannot_output_foreign_files(
    attack: Attack, way: str, runner: Runner, root: Path, victims: Victims
) -> None:
    error = _run_attack(attack, way, runner, root=root, victims=victims)
    assert _insert_victim_paths(attack.message, victims) in error
    victims.check(root.parent)


@pytest.mark.parametrize(("attack", "way"), _make_cases(contained=True))
def test_container_cannot_output_foreign_files(
    attack: Attack, way: str, container_runner: Runner, root: Path, victims: Victims
) -> None:
    error = _run_attack(attack, way, container_runner, root=root, victims=victims)
    assert _insert_victim_paths(attack.message, victims) in error
    victims.check(root.parent)


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize(
    ("type_", "value"), [case[1:] for case in EXPRESSIONS], ids=[case[0] for case in EXPRESSIONS]
)
def test_expression_cannot_output_foreign_files(
    type_: str, value: Any, inside: bool, runner: Runner, root: Path, victims: Victims
) -> None:
    process = _make_expression(type_, _insert_victim_paths(value, victims))
    task_ = _make_task(
        root,
        _wrap_in_workflow(process, type_) if inside else process,
        EntryKind.FILE if type_ == "File" else EntryKind.BUNDLE,
    )
    error = _get_refusal(run(runner, task_, [write_input(root / "in" / "a.dat")]))
    assert "output 'o'" in error
    assert "not a file of the job" in error
    victims.check(root.parent)


@pytest.mark.parametrize("accepted_inputs", ["true", "cat $(inputs.f.path)"])
def test_step_cannot_read_a_foreign_file_that_an_expression_names(
    accepted_inputs: str, runner: Runner, root: Path, victims: Victims
) -> None:
    """It can read it neither with ``loadContents`` nor with a tool."""
    reads = {"f": {"type": "File", "loadContents": True}}
    reader = make_tool(
        ["sh", "-c", accepted_inputs], inputs=reads, arguments=["$(inputs.f.contents)"], stderr="e"
    )
    process = _wrap_in_workflow(
        _make_expression(
            "File",
            _insert_victim_paths(
                {"class": "File", "location": "file://VICTIMS/secret.txt"}, victims
            ),
        ),
        "File",
    )
    process["steps"]["again"] = {"in": {"f": "run/o"}, "out": ["o"], "run": reader}
    process["outputs"]["o"]["outputSource"] = "again/o"
    report = run(runner, make_task(root, process), [write_input(root / "in" / "a.dat")])
    assert "not a file of the job" in _get_refusal(report)
    victims.check(root.parent)


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize("read", [{}, {"loadContents": True}], ids=["path", "contents"])
@pytest.mark.parametrize("field", ["path", "location"])
def test_tool_cannot_read_a_foreign_file_that_is_a_default(
    field: str, read: dict[str, Any], inside: bool, runner: Runner, root: Path, victims: Victims
) -> None:
    default = _insert_victim_paths({"class": "File", field: "VICTIMS/secret.txt"}, victims)
    inputs = {"f": {"type": "File"}, "g": {"type": "File", "default": default, **read}}
    accepted_inputs = "$(inputs.g.contents)" if read else "$(inputs.g.path)"
    process = make_tool(
        ["cat"], inputs=inputs, arguments=["$(inputs.f.path)", accepted_inputs], stdout="o"
    )
    process["outputs"] = {"o": {"type": "stdout"}}
    report = run(
        runner,
        make_task(root, _wrap_in_workflow(process, "File") if inside else process),
        [write_input(root / "in" / "a.dat")],
    )
    assert "not a file of the job" in _get_refusal(report)
    victims.check(root.parent)


def _run_attack(attack: Attack, way: str, runner: Runner, *, root: Path, victims: Victims) -> str:
    """Run a job that attacks, which has to fail, and return its error."""
    process = _make_process(_insert_victim_paths(attack, victims), contained=way in _CONTAINERS)
    task_, files = _make_job(process, way, root, attack)
    return _get_refusal(run(runner, task_, files))


def _get_refusal(report: AttemptReport) -> str:
    """Return the error of a failed attempt. It must not have content of a victim."""
    assert report.outcome is AttemptOutcome.FAILED, report
    _, message = get_error(report)
    assert MARK not in message
    return message


def _insert_victim_paths(value: Any, victims: Victims) -> Any:
    if isinstance(value, Attack):
        return Attack(
            **{
                name: _insert_victim_paths(getattr(value, name), victims)
                for name in Attack.__dataclass_fields__
            }
        )
    text = json.dumps(value).replace("VICTIMS", str(victims.folder)).replace("UP", _UP)
    return json.loads(text)


def _make_process(attack: Attack, *, contained: bool) -> dict[str, Any]:
    requirements: list[Any] = [{"class": "InlineJavascriptRequirement"}, *attack.requirements]
    if contained:
        requirements.append({"class": "DockerRequirement", "dockerPull": IMAGE})
    port = {"type": attack.type, "outputBinding": attack.binding, **attack.port}
    process = make_tool(
        ["/bin/sh", "-c", attack.script.replace("$(", "\\$(")],
        requirements=requirements,
        outputs={"o": port},
    )
    del process["stdout"]
    return process | dict(attack.fields)


def _make_job(
    process: dict[str, Any], way: str, root: Path, attack: Attack
) -> tuple[PilotTask, list[InputFile]]:
    file = write_input(root / "in" / "a.dat")
    if way == INVOCATION:
        stored_input = write_input(root / "store" / "files" / "a.dat")
        order = {
            "f": {"class": "File", "location": "files/a.dat", "checksum": stored_input.checksum}
        }
        return make_task(root, OPERATION), [write_invocation(root, process, order)]
    if way in (WORKFLOW, INNER_CONTAINER):
        process = _wrap_in_workflow(process, attack.type)
    container = (
        Container(images=[ContainerImage(name=IMAGE, pull=IMAGE)])
        if way == INNER_CONTAINER
        else None
    )
    plain = _make_task(root, process, attack.kind)
    needs = plain.needs.model_copy(update={"container": container})
    task_ = plain.model_copy(update={"needs": needs})
    if way != BATCH:
        return task_, [file]
    return task_.model_copy(update={"batch": 2}), [
        write_input(root / "in" / f"{seq}.dat", seq=seq) for seq in (0, 1)
    ]


def _make_task(root: Path, process: dict[str, Any], kind: EntryKind) -> PilotTask:
    return make_task(
        root, process, outputs=[make_output(root, "o").model_copy(update={"kind": kind})]
    )


def _wrap_in_workflow(process: dict[str, Any], type_: Any) -> dict[str, Any]:
    return {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"f": {"type": "File"}},
        "outputs": {"o": {"type": type_, "outputSource": "run/o"}},
        "steps": {"run": {"in": {"f": "f"}, "out": ["o"], "run": process}},
    }


def _make_expression(type_: str, value: Any) -> dict[str, Any]:
    return {
        "cwlVersion": "v1.2",
        "class": "ExpressionTool",
        "requirements": {"InlineJavascriptRequirement": {}},
        "inputs": {"f": {"type": "File"}},
        "outputs": {"o": {"type": type_}},
        "expression": "${ return {o: " + json.dumps(value) + "}; }",
    }
