"""What a tool can do beside its work: everything in the open, nothing in the sandbox. Each attack
is made by a real job in a real slot process; those that leave no trace share one."""

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
from tests.attacks.rooms import LIMITED, OPEN, sandboxed
from tests.attacks.tools import files, kernel, limits, network, next_job, processes
from tests.attacks.tools.attack import SUCCEEDED, Attack, possible, program
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


@pytest.fixture(scope="module")
def open_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    yield from _runner(tmp_path_factory.mktemp("open"), {})


@pytest.fixture(scope="module")
def sandboxed_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with sandboxed() as settings:
        yield from _runner(tmp_path_factory.mktemp("sandboxed"), settings)


@pytest.fixture(scope="module")
def in_the_open(
    open_runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedSlot]:
    yield from _room(open_runner, tmp_path_factory.mktemp("store"), OPEN)


@pytest.fixture(scope="module")
def in_the_sandbox(
    sandboxed_runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedSlot]:
    yield from _room(sandboxed_runner, tmp_path_factory.mktemp("store"), LIMITED)


def _runner(folder: Path, settings: dict[str, Any]) -> Iterator[Runner]:
    environment = {"SLUICE_SECRET": "hush", "PYTHONPATH": str(Path.cwd())}
    runner = Runner(folder, environment=environment, settings=settings)
    yield runner
    runner.close()


def _room(runner: Runner, store: Path, resources: Resources) -> Iterator[AttackedSlot]:
    surroundings = Surroundings(runner, store)
    yield AttackedSlot(runner, surroundings, resources)
    surroundings.close()


def _cases(attacks: list[Attack], *, inside: Sequence[pytest.MarkDecorator] = ()) -> list[Any]:
    """``inside``: marks of attacks by tools of a workflow."""
    ways: tuple[tuple[bool, str, Sequence[pytest.MarkDecorator]], ...] = (
        (False, "alone", ()),
        (True, "in a workflow", inside),
    )
    return [
        pytest.param(attack, is_inside, id=f"{attack.name}, {way}", marks=marks)
        for attack in attacks
        for is_inside, way, marks in ways
    ]


_POSSIBLE = possible(ATTACKS)


@pytest.mark.parametrize(
    ("attack", "inside"),
    _cases(
        [attack for attack in ATTACKS if attack.name in _POSSIBLE],
        inside=[pytest.mark.long("each of them is seen to succeed alone")],
    ),
)
def test_attack_succeeds_in_the_open(
    attack: Attack, *, inside: bool, in_the_open: AttackedSlot
) -> None:
    succeeded, said = _carry_out(attack, in_the_open, inside=inside)
    assert succeeded, said


@pytest.mark.parametrize(("attack", "inside"), _cases(ATTACKS))
def test_attack_fails_in_the_sandbox(
    attack: Attack, *, inside: bool, in_the_sandbox: AttackedSlot
) -> None:
    succeeded, said = _carry_out(attack, in_the_sandbox, inside=inside)
    assert not succeeded
    # Not because it was not tried.
    assert attack.ends or said.startswith(("failed: ", SUCCEEDED)), said


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize("room", ["in_the_open", "in_the_sandbox"])
def test_a_tool_does_its_work(room: str, *, inside: bool, request: pytest.FixtureRequest) -> None:
    """Otherwise no attack would succeed, and nothing else either."""
    work = Attack(
        "works",
        """
for path in ("own", os.environ["TMPDIR"] + "/own"):
    with open(path, "w") as file:
        file.write("x")
    require(open(path).read() == "x")
require(os.system("exit 7") == 7 << 8)
""",
        ends=True,  # has a job of its own
    )
    succeeded, said = _carry_out(work, request.getfixturevalue(room), inside=inside)
    assert succeeded, said


def _carry_out(attack: Attack, room: AttackedSlot, *, inside: bool) -> tuple[bool, str]:
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
    said: dict[str, str] = {}
    for codes in (
        {attack.name: attack.code for attack in sharing},
        {attack.name: attack.later for attack in sharing if attack.later},
    ):
        said |= _run(codes, sharing[0], room, inside=inside)
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
