"""Carry out attacks by tools in jobs of a slot."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pilot.runner.files.input_protection import MAX_COPIED
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.leases import PilotTask
from tests.attacks.tools import files, kernel, limits, network, next_job, processes
from tests.attacks.tools.attack import SUCCEEDED, Attack, make_program
from tests.attacks.tools.node_objects import NodeObjects
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import TOOL_PYTHON, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.slot_runner import Runner

ATTACKS = [
    *files.ATTACKS,
    *processes.ATTACKS,
    *network.ATTACKS,
    *kernel.ATTACKS,
    *limits.ATTACKS,
    *next_job.ATTACKS,
]
#: Bytes of an input that a slot links instead of copying it.
_LARGE = MAX_COPIED + 1
#: Runs its input, which is a program. A large input ends with many empty lines.
_START = "import sys; exec(open(sys.argv[1]).read(1 << 17))"


@dataclass
class AttackedSlot:
    """A slot, the objects of its node, and the resources of its jobs.

    ``results`` has the answers of attacks that share a job, by whether the job is a workflow.
    """

    runner: Runner
    node_objects: NodeObjects
    resources: Resources
    results: dict[bool, dict[str, str]] = field(default_factory=dict)
    tasks: dict[tuple[Any, ...], PilotTask] = field(default_factory=dict)


def open_attacked_slot(runner: Runner, store: Path, resources: Resources) -> Iterator[AttackedSlot]:
    node_objects = NodeObjects(runner, store)
    yield AttackedSlot(runner, node_objects, resources)
    node_objects.close()


def make_attack_parameters(
    attacks: list[Attack], *, inside: Sequence[pytest.MarkDecorator] = ()
) -> list[Any]:
    """Return the attacks as parameters. ``inside`` has marks for attacks in an inner workflow."""
    ways: tuple[tuple[bool, str, Sequence[pytest.MarkDecorator]], ...] = (
        (False, "alone", ()),
        (True, "in a workflow", inside),
    )
    return [
        pytest.param(
            attack, is_inside, id=f"{attack.name}, {way}", marks=[*marks, *_list_marks(attack)]
        )
        for attack in attacks
        for is_inside, way, marks in ways
    ]


def _list_marks(attack: Attack) -> list[pytest.MarkDecorator]:
    return [pytest.mark.needs(*attack.needs)] if attack.needs else []


def run_attack(attack: Attack, slot: AttackedSlot, *, inside: bool) -> tuple[bool, str]:
    """Return whether the attack has succeeded, and the answer of its tool or the message of its
    failed job."""
    node_objects = slot.node_objects
    if attack.can_share_job:
        if inside not in slot.results:
            node_objects.prepare()
            slot.results[inside] = _run_shared_job(slot, inside=inside)
        result = slot.results[inside][attack.name]
        return result == SUCCEEDED, result
    node_objects.prepare()
    [result] = _run_programs({attack.name: attack.code}, attack, slot, inside=inside).values()
    if attack.is_successful is not None:
        return attack.is_successful(node_objects), result
    return result == SUCCEEDED, result


def _run_shared_job(slot: AttackedSlot, *, inside: bool) -> dict[str, str]:
    """Run the attacks that share a job, and then the next job, which finds what they have left."""
    sharing = [attack for attack in ATTACKS if attack.can_share_job]
    codes = {attack.name: attack.code for attack in sharing}
    results = _run_programs(codes, sharing[0], slot, inside=inside)
    later = {attack.name: attack.next_job_code for attack in sharing if attack.next_job_code}
    for name, later_result in _run_programs(later, sharing[0], slot, inside=inside).items():
        # Otherwise the refusal of the first job counts.
        if SUCCEEDED in (results[name], later_result):
            results[name] = later_result
    return results


def _run_programs(
    codes: dict[str, str], attack: Attack, slot: AttackedSlot, *, inside: bool
) -> dict[str, str]:
    """Run the programs and return their answers by name."""
    node_objects = slot.node_objects
    text = make_program(codes, node_objects.list_values()).encode()
    data = text.ljust(_LARGE, b"\n") if attack.large else text
    node_objects.input_before = data
    file = write_input(node_objects.input, data=data)
    report = run(slot.runner, _make_task(attack, slot, inside=inside), [file], seq=next(_numbers))
    if report.outcome is not AttemptOutcome.FINISHED:
        return dict.fromkeys(codes, report.message)
    # The dynamic loader may print lines around the answer.
    answer = Path(report.outputs[0].url.removeprefix("file://")).read_text()
    results: dict[str, str] = json.loads(
        next(line for line in answer.splitlines() if line.startswith("{"))
    )
    return results


_numbers = count()


def _make_task(attack: Attack, slot: AttackedSlot, *, inside: bool) -> PilotTask:
    """Return a task whose tool runs its input. Equal attacks share a task."""
    home = str(slot.node_objects.home)
    values = {name: text.replace("HOME", home) for name, text in attack.environment.items()}
    key = (inside, *values)
    if key not in slot.tasks:
        process = make_tool(
            [TOOL_PYTHON, "-I", "-S", "-c", _START],
            arguments=["$(inputs.f.path)"],
            requirements={"EnvVarRequirement": {"envDef": values}},
        )
        slot.tasks[key] = make_task(
            slot.node_objects.store,
            wrap_in_workflow(process) if inside else process,
            resources=slot.resources,
        )
    return slot.tasks[key]
