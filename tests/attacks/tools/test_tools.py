"""Tests of attacks by tools: each succeeds without a sandbox and fails in the sandbox. A real job
in a real slot process makes each attack. Attacks that leave no traces share a job."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.tools.attack import Attack, find_possible_attacks
from tests.attacks.tools.attack_jobs import (
    ATTACKS,
    AttackedSlot,
    make_attack_parameters,
    open_attacked_slot,
    run_attack,
)
from tests.attacks.tools.slot_kinds import LIMITED, OPEN, open_sandbox_settings
from tests.unit.pilot.slot_runner import Runner


@pytest.fixture(scope="module")
def open_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    yield from _start_runner(tmp_path_factory.mktemp("open"), {})


@pytest.fixture(scope="module")
def sandboxed_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with open_sandbox_settings() as settings:
        yield from _start_runner(tmp_path_factory.mktemp("sandboxed"), settings)


@pytest.fixture(scope="module")
def open_slot(
    open_runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedSlot]:
    yield from open_attacked_slot(open_runner, tmp_path_factory.mktemp("store"), OPEN)


@pytest.fixture(scope="module")
def sandboxed_slot(
    sandboxed_runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedSlot]:
    yield from open_attacked_slot(sandboxed_runner, tmp_path_factory.mktemp("store"), LIMITED)


def _start_runner(folder: Path, settings: dict[str, Any]) -> Iterator[Runner]:
    environment = {"SLUICE_SECRET": "hush", "PYTHONPATH": str(Path.cwd())}
    runner = Runner(folder, environment=environment, settings=settings)
    yield runner
    runner.close()


_POSSIBLE = find_possible_attacks(ATTACKS)


@pytest.mark.parametrize(
    ("attack", "inside"),
    make_attack_parameters(
        [attack for attack in ATTACKS if attack.name in _POSSIBLE],
        inside=[pytest.mark.long("each of them is seen to succeed alone")],
    ),
)
def test_attack_succeeds_without_a_sandbox(
    attack: Attack, *, inside: bool, open_slot: AttackedSlot
) -> None:
    succeeded, result = run_attack(attack, open_slot, inside=inside)
    assert succeeded, result


@pytest.mark.parametrize(
    ("attack", "inside"),
    [
        *make_attack_parameters([attack for attack in ATTACKS if attack.can_share_job]),
        *make_attack_parameters(
            [attack for attack in ATTACKS if not attack.can_share_job],
            inside=[pytest.mark.long("each fails alone, and those that share a job in a workflow")],
        ),
    ],
)
def test_attack_fails_in_the_sandbox(
    attack: Attack, *, inside: bool, sandboxed_slot: AttackedSlot
) -> None:
    succeeded, result = run_attack(attack, sandboxed_slot, inside=inside)
    assert not succeeded
    assert attack.was_prevented(result), result


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize("slot", ["open_slot", "sandboxed_slot"])
def test_each_slot_runs_a_harmless_tool(
    slot: str, *, inside: bool, request: pytest.FixtureRequest
) -> None:
    """Otherwise attacks would fail for the wrong reason."""
    work = Attack(
        "works",
        """
for path in ("own", os.environ["TMPDIR"] + "/own"):
    with open(path, "w") as file:
        file.write("x")
    require(open(path).read() == "x")
require(os.system("exit 7") == 7 << 8)
""",
        needs_own_job=True,
    )
    succeeded, result = run_attack(work, request.getfixturevalue(slot), inside=inside)
    assert succeeded, result


@pytest.mark.parametrize(
    "code",
    [
        "nobody_knows_this",
        "import no_such_module",
        "in_child(lambda: nobody_knows_this)",
        "call('no_such_call')",
        "os.fsync(-1)",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "os._exit(3)",
        "os.kill(os.getppid(), signal.SIGKILL)",
    ],
)
def test_attack_that_fails_by_itself_does_not_count_as_prevented(
    code: str, sandboxed_slot: AttackedSlot
) -> None:
    """An attack whose job fails for another reason does not count either."""
    attack = Attack("fails", code, limit_message="MiB of memory")
    succeeded, result = run_attack(attack, sandboxed_slot, inside=False)
    assert not succeeded
    assert not attack.was_prevented(result), result
