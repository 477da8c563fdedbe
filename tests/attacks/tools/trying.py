"""Attacks by tools, carried out by jobs of a slot."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pilot.runner.files.input_protection import MOST_COPIED
from sluice.contracts.needs import Resources
from sluice.contracts.pilots import PilotTask
from sluice.contracts.states import AttemptOutcome
from tests.attacks.tools import files, kernel, limits, network, next_job, processes
from tests.attacks.tools.attack import SUCCEEDED, Attack, program
from tests.attacks.tools.surroundings import Surroundings
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import input_file, task, tool
from tests.unit.pilot.runner.inner_workflow.test_workflows import around
from tests.unit.pilot.slot_runner import Runner

ATTACKS = [
    *files.ATTACKS,
    *processes.ATTACKS,
    *network.ATTACKS,
    *kernel.ATTACKS,
    *limits.ATTACKS,
    *next_job.ATTACKS,
]
#: Bytes of what a slot makes a link of, instead of a copy.
_LARGE = MOST_COPIED + 1
#: Runs its input, a program with many empty lines after it or none.
_START = "import sys; exec(open(sys.argv[1]).read(1 << 17))"


@dataclass
class AttackedSlot:
    """A slot, what is around it, and what each of its jobs may have. ``said``: of the attacks that
    share a job, by whether it is a workflow."""

    runner: Runner
    surroundings: Surroundings
    resources: Resources
    said: dict[bool, dict[str, str]] = field(default_factory=dict)
    tasks: dict[tuple[Any, ...], PilotTask] = field(default_factory=dict)


def made_room(runner: Runner, store: Path, resources: Resources) -> Iterator[AttackedSlot]:
    surroundings = Surroundings(runner, store)
    yield AttackedSlot(runner, surroundings, resources)
    surroundings.close()


def cases(attacks: list[Attack], *, inside: Sequence[pytest.MarkDecorator] = ()) -> list[Any]:
    """``inside``: marks of attacks by tools of a workflow."""
    ways: tuple[tuple[bool, str, Sequence[pytest.MarkDecorator]], ...] = (
        (False, "alone", ()),
        (True, "in a workflow", inside),
    )
    return [
        pytest.param(attack, is_inside, id=f"{attack.name}, {way}", marks=[*marks, *_marks(attack)])
        for attack in attacks
        for is_inside, way, marks in ways
    ]


def _marks(attack: Attack) -> list[pytest.MarkDecorator]:
    return [pytest.mark.needs(*attack.needs)] if attack.needs else []


def carry_out(attack: Attack, room: AttackedSlot, *, inside: bool) -> tuple[bool, str]:
    """Has it succeeded; what its tool has said, or why its job has failed."""
    surroundings = room.surroundings
    if attack.shares_its_job:
        if inside not in room.said:
            surroundings.prepare()
            room.said[inside] = _shared(room, inside=inside)
        said = room.said[inside][attack.name]
        return said == SUCCEEDED, said
    surroundings.prepare()
    [said] = _run({attack.name: attack.code}, attack, room, inside=inside).values()
    if attack.happened is not None:
        return attack.happened(surroundings), said
    return said == SUCCEEDED, said


def _shared(room: AttackedSlot, *, inside: bool) -> dict[str, str]:
    """Those that share a job, and the next job, which finds what they have left."""
    sharing = [attack for attack in ATTACKS if attack.shares_its_job]
    codes = {attack.name: attack.code for attack in sharing}
    said = _run(codes, sharing[0], room, inside=inside)
    later = {attack.name: attack.later for attack in sharing if attack.later}
    for name, found in _run(later, sharing[0], room, inside=inside).items():
        # Else what has kept it from leaving anything is what counts.
        if SUCCEEDED in (said[name], found):
            said[name] = found
    return said


def _run(
    codes: dict[str, str], attack: Attack, room: AttackedSlot, *, inside: bool
) -> dict[str, str]:
    """What came of each, by name."""
    surroundings = room.surroundings
    text = program(codes, surroundings.told()).encode()
    data = text.ljust(_LARGE, b"\n") if attack.large else text
    surroundings.input_before = data
    file = input_file(surroundings.input, data=data)
    report = run(room.runner, _task(attack, room, inside=inside), [file], seq=next(_numbers))
    if report.outcome is not AttemptOutcome.FINISHED:
        return dict.fromkeys(codes, report.message)
    # Around it may stand what the loader of programs has to say.
    answer = Path(report.outputs[0].url.removeprefix("file://")).read_text()
    found: dict[str, str] = json.loads(
        next(line for line in answer.splitlines() if line.startswith("{"))
    )
    return found


_numbers = count()


def _task(attack: Attack, room: AttackedSlot, *, inside: bool) -> PilotTask:
    """Its tool runs its input. Jobs of one task find its tool loaded."""
    home = str(room.surroundings.home)
    values = {name: text.replace("HOME", home) for name, text in attack.environment.items()}
    key = (inside, *values)
    if key not in room.tasks:
        process = tool(
            [sys.executable, "-I", "-S", "-c", _START],
            arguments=["$(inputs.f.path)"],
            requirements={"EnvVarRequirement": {"envDef": values}},
        )
        room.tasks[key] = task(
            room.surroundings.store,
            around(process) if inside else process,
            resources=room.resources,
        )
    return room.tasks[key]
