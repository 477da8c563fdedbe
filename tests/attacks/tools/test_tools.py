"""Tests of attacks by tools: each succeeds without a sandbox and fails in the sandbox. A real job
in a real slot process makes each attack. Attacks that leave no traces share a job."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.tools.attack import Attack, possible
from tests.attacks.tools.attack_jobs import (
    ATTACKS,
    AttackedSlot,
    carry_out,
    cases,
    open_attacked_slot,
)
from tests.attacks.tools.slot_kinds import LIMITED, OPEN, sandboxed
from tests.unit.pilot.slot_runner import Runner


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
    yield from open_attacked_slot(open_runner, tmp_path_factory.mktemp("store"), OPEN)


@pytest.fixture(scope="module")
def in_the_sandbox(
    sandboxed_runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedSlot]:
    yield from open_attacked_slot(sandboxed_runner, tmp_path_factory.mktemp("store"), LIMITED)


def _runner(folder: Path, settings: dict[str, Any]) -> Iterator[Runner]:
    environment = {"SLUICE_SECRET": "hush", "PYTHONPATH": str(Path.cwd())}
    runner = Runner(folder, environment=environment, settings=settings)
    yield runner
    runner.close()


_POSSIBLE = possible(ATTACKS)


@pytest.mark.parametrize(
    ("attack", "inside"),
    cases(
        [attack for attack in ATTACKS if attack.name in _POSSIBLE],
        inside=[pytest.mark.long("each of them is seen to succeed alone")],
    ),
)
def test_attack_succeeds_without_a_sandbox(
    attack: Attack, *, inside: bool, in_the_open: AttackedSlot
) -> None:
    succeeded, result = carry_out(attack, in_the_open, inside=inside)
    assert succeeded, result


@pytest.mark.parametrize(
    ("attack", "inside"),
    [
        *cases([attack for attack in ATTACKS if attack.shares_its_job]),
        *cases(
            [attack for attack in ATTACKS if not attack.shares_its_job],
            inside=[pytest.mark.long("each fails alone, and those that share a job in a workflow")],
        ),
    ],
)
def test_attack_fails_in_the_sandbox(
    attack: Attack, *, inside: bool, in_the_sandbox: AttackedSlot
) -> None:
    succeeded, result = carry_out(attack, in_the_sandbox, inside=inside)
    assert not succeeded
    assert attack.was_prevented(result), result


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize("slot", ["in_the_open", "in_the_sandbox"])
def test_tool_can_do_its_work_in_both_slots(
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
        alone=True,
    )
    succeeded, result = carry_out(work, request.getfixturevalue(slot), inside=inside)
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
    code: str, in_the_sandbox: AttackedSlot
) -> None:
    """An attack whose job fails for another reason does not count either."""
    attack = Attack("fails", code, ends="MiB of memory")
    succeeded, result = carry_out(attack, in_the_sandbox, inside=False)
    assert not succeeded
    assert not attack.was_prevented(result), result
