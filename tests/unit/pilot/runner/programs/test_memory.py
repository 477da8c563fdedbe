"""A tool that takes memory as fast as it can is ended at its limit, not some looks later."""

import fcntl
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilot.node import memory_groups
from pilot.node.memory_groups import ControlGroupSettings, find_memory_groups, limit_file
from sluice.contracts.needs import Resources, Warm
from sluice.contracts.pilots import AttemptReport, PilotTask
from sluice.contracts.states import AttemptOutcome, ErrorClass
from tests.needs import MEMORY_GROUPS, ROOT_RIGHTS
from tests.unit.pilot.attempts import failed, log_of, python, run
from tests.unit.pilot.builders import input_file, job, task, tool
from tests.unit.pilot.runner.attempts.test_warm_tools import OBEYS
from tests.unit.pilot.slot_runner import Runner

#: MiB. What the tools here ask for; they may use twice that.
ASKED, LIMIT = 128, 256
#: Takes up to 3 GiB in pieces of 16 MiB, saying how many MiB it has.
GREEDY = """
import mmap, sys
kept = []
for number in range(192):
    piece = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, 16 << 20, 4096):
        piece[page] = 1
    kept.append(piece)
    print("taken:", 16 * (number + 1), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def groups() -> Iterator[ControlGroupSettings]:
    found = find_memory_groups(str(uuid.uuid4()))
    if found is None:
        pytest.fail("no control group for memory can be made here", pytrace=False)
    yield found.groups
    found.remove()
    assert not Path(found.groups.folder).exists()


@pytest.fixture(scope="module")
def grouped(
    groups: ControlGroupSettings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runner]:
    runner = Runner(
        tmp_path_factory.mktemp("pilot"),
        environment={"PYTHONPATH": str(Path.cwd())},
        settings={"memory_groups": groups},
    )
    yield runner
    runner.close()


@pytest.fixture(params=[pytest.param("group", marks=pytest.mark.needs(MEMORY_GROUPS)), "processes"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def limited(kind: str, request: pytest.FixtureRequest) -> Runner:
    """A slot whose tools are kept within their memory in one of the two ways."""
    found: Runner = request.getfixturevalue("grouped" if kind == "group" else "runner")
    return found


def attempt(runner: Runner, root: Path, command: list[str], *arguments: str) -> AttemptReport:
    return run(runner, tasked(root, command, *arguments), [input_file(root / "in" / "a.dat")])


def taken(report: AttemptReport) -> int:
    """MiB that the greedy tool had."""
    return int(log_of(report).rpartition("taken: ")[2].splitlines()[0])


def tasked(root: Path, command: list[str], *arguments: str) -> PilotTask:
    return task(
        root,
        tool(command, arguments=list(arguments)),
        resources=Resources(ram=ASKED, time_limit=60.0),
    )


def test_a_greedy_tool_is_ended_at_its_limit(limited: Runner, kind: str, root: Path) -> None:
    report = attempt(limited, root, ["python3", "-c"], GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY, report.message
    assert report.message.endswith(
        f" MiB of memory, having asked for {ASKED} MiB (ramMin), which lets it use {LIMIT} MiB, and"
        " was ended"
    )
    most = LIMIT if kind == "group" else 2 * LIMIT + 1024 + 64 * (os.cpu_count() or 1)
    assert 0.5 * LIMIT < taken(report) <= most
    assert report.peak_memory is not None
    assert report.peak_memory >= LIMIT


def test_so_are_many_processes_together(limited: Runner, root: Path) -> None:
    script = 'for n in 1 2 3 4; do python3 -c "$0" & done; wait; exit 5'
    report = attempt(limited, root, ["sh", "-c"], script, GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY, report.message


def test_a_tool_loaded_in_place_of_another_is_counted_for_itself(
    limited: Runner, root: Path
) -> None:
    """It stays loaded, and so did the other: that one's memory is not lent to it."""
    of = task(
        root,
        tool([sys.executable, "-c", OBEYS], arguments=["$(inputs.f.path)"]),
        warm=Warm(kind="a", key=["f"]),
        resources=Resources(ram=ASKED, time_limit=60.0),
    )
    reports = []
    for number, mib in enumerate((ASKED, ASKED + 1, LIMIT + 50)):
        code = f"import builtins; builtins.kept = b'x' * ({mib} << 20); work(0.6)"
        given = input_file(root / "in" / f"{number}.txt", data=code.encode())
        reports.append(run(limited, of, [given], seq=number))
    assert [report.error_class for report in reports] == [None, None, ErrorClass.OUT_OF_MEMORY]
    assert all((report.peak_memory or 0) >= ASKED for report in reports)


@pytest.mark.needs(MEMORY_GROUPS)
def test_what_is_left_of_a_tool_is_not_taken_for_all_of_it(grouped: Runner, root: Path) -> None:
    """A process of its own was ended for want of memory, and the tool says that all is well."""
    report = attempt(grouped, root, ["sh", "-c"], 'python3 -c "$0"; exit 0', GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY, report.message


@pytest.mark.parametrize(
    ("asked", "error"), [(700, ErrorClass.OUT_OF_MEMORY), (1500, ErrorClass.PILOT_LOST)]
)
@pytest.mark.needs(MEMORY_GROUPS)
def test_nothing_left_of_the_nodes_memory_is_the_jobs_fault_where_it_used_more_than_it_asked_for(
    asked: int, error: ErrorClass, groups: ControlGroupSettings, grouped: Runner, root: Path
) -> None:
    limit = Path(groups.folder, limit_file(groups))
    before = limit.read_text()
    limit.write_text(str(1 << 30))
    try:
        greedy = tool(["python3", "-c"], arguments=[GREEDY])
        prepared = task(root, greedy, resources=Resources(ram=asked))
        report = run(grouped, prepared, [input_file(root / "in" / "a.dat")])
    finally:
        limit.write_text(before if before.strip() == "max" else "-1")
    assert report.error_class is error
    assert report.message.startswith(
        "was ended by the kernel: the node had no memory left, of which it used "
    )
    assert f" MiB, having asked for {asked} MiB (ramMin), which lets it use " in report.message


def test_the_next_tool_has_the_limit_to_itself(limited: Runner, root: Path) -> None:
    for _ in range(2):
        attempt(limited, root, ["python3", "-c"], GREEDY)
        report = attempt(
            limited, root, ["python3", "-c", f"print(len(bytearray({LIMIT // 2} << 20)))"]
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message


def test_address_space_that_is_only_reserved_does_not_count(limited: Runner, root: Path) -> None:
    reserve = (
        "import mmap; kept = mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,"
        " prot=0); print('fine')"
    )
    report = attempt(limited, root, ["python3", "-c", reserve])
    assert report.outcome is AttemptOutcome.FINISHED, report.message


def test_a_refusal_that_a_tool_tells_of_is_one_of_memory(runner: Runner, root: Path) -> None:
    braked = "resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY"
    greedy = f"import resource\nwhile not {braked}: pass\nbytearray(3 << 30)"
    report = attempt(runner, root, ["python3", "-c", greedy])
    assert report.error_class is ErrorClass.OUT_OF_MEMORY
    assert "MemoryError" in report.message
    assert f"it may use {LIMIT} MiB of memory (ramMin)" in report.message


@pytest.mark.needs(MEMORY_GROUPS)
def test_files_of_earlier_jobs_in_memory_are_no_room_for_the_next(
    grouped: Runner, root: Path
) -> None:
    """Nor do they count as its own."""
    for number in range(4):
        report = attempt(
            grouped,
            root,
            ["sh", "-c", "head -c 200000000 /dev/zero > large; sync; cat large > /dev/null"],
        )
        assert report.outcome is AttemptOutcome.FINISHED, (number, report.message)
    report = attempt(grouped, root, ["python3", "-c"], GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY
    assert taken(report) <= LIMIT + 256


@pytest.mark.needs(MEMORY_GROUPS)
def test_the_slot_outlives_its_tool(grouped: Runner, root: Path) -> None:
    before = grouped.slot_pid
    attempt(grouped, root, ["python3", "-c"], GREEDY)
    assert attempt(grouped, root, ["true"]).outcome is AttemptOutcome.FINISHED
    assert Path(f"/proc/{before}").exists()


#: Makes groups as a pilot does, says where, and waits.
PILOT = """
import sys
from pilot.node.memory_groups import find_memory_groups
found = find_memory_groups(sys.argv[1])
print("there is", found and found.groups.folder, flush=True)
sys.stdin.read()
"""


@contextmanager
def other_pilot(**options: Any) -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """Its process, what it says, and where its groups are."""
    command = [sys.executable, "-c", PILOT, str(uuid.uuid4())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    ) as process:
        assert process.stdout is not None
        said = ""
        while not (line := process.stdout.readline()).startswith("there is "):
            assert line
            said += line
        yield process, said, line.split()[2]
        process.kill()


@pytest.mark.needs(MEMORY_GROUPS)
def test_a_slot_removes_groups_of_slots_that_have_gone_and_none_that_is_about_to_be_entered(
    groups: ControlGroupSettings, grouped: Runner
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    gone, entering = (Path(groups.folder, f"slot-{pid}") for pid in (ended.pid, os.getpid()))
    gone.mkdir()
    entering.mkdir()
    grouped.connection.close()
    grouped.open_slot()
    assert not gone.exists()
    entering.rmdir()


#: Begins and ends as a pilot, often.
BUSY = """
import sys, uuid
from pilot.node.memory_groups import find_memory_groups
print(flush=True)
sys.stdin.read()
for _ in range(200):
    found = find_memory_groups(str(uuid.uuid4()))
    assert found is not None
    found.remove()
"""


@pytest.mark.needs(MEMORY_GROUPS)
@pytest.mark.usefixtures("groups")
def test_pilots_that_start_together_each_have_theirs() -> None:
    wait, go = os.pipe()
    with ExitStack() as stack:
        command = [sys.executable, "-c", BUSY]
        pilots = [
            stack.enter_context(subprocess.Popen(command, stdin=wait, stdout=subprocess.PIPE))
            for _ in range(3)
        ]
        for pilot in pilots:
            assert pilot.stdout is not None
            assert pilot.stdout.readline() == b"\n"
        os.close(go)
        os.close(wait)
        said = [pilot.communicate()[0] for pilot in pilots]
        assert [pilot.returncode for pilot in pilots] == [0] * len(pilots), said


def test_group_made_again_by_its_pilot_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group without a lock is removed by one pilot and made again while another one waits."""
    group = tmp_path / "sluice-mine"
    group.mkdir()

    def lock_the_old_folder(descriptor: int, operation: int) -> None:
        group.rmdir()
        group.mkdir()
        lock(descriptor, operation)

    lock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock_the_old_folder)
    memory_groups.remove_groups(str(group))
    assert group.is_dir()


def test_a_pilot_that_cannot_have_groups_goes_back_to_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the kernel's interface of version 2, as plain files: not every machine has it."""
    for name, text in {"controllers": "memory", "subtree_control": ""}.items():
        (tmp_path / f"cgroup.{name}").write_text(text)
    (tmp_path / "memory.max").write_text("max")
    (tmp_path / "own").write_text("0::/\n")
    (tmp_path / "mounts").write_text(f"30 20 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw\n")
    monkeypatch.setattr(memory_groups, "_OWN", tmp_path / "own")
    monkeypatch.setattr(memory_groups, "_MOUNTS", tmp_path / "mounts")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "sluice-mine").write_text("where its groups would be")
    assert find_memory_groups("mine") is None
    assert (tmp_path / "cgroup.subtree_control").read_text() == "-memory"
    assert (tmp_path / "cgroup.procs").read_text() == str(os.getpid())


@pytest.mark.needs(MEMORY_GROUPS)
@pytest.mark.usefixtures("groups")
def test_groups_that_a_killed_pilot_left_are_removed_and_no_others() -> None:
    with other_pilot() as (killed, _, left):
        assert Path(left).is_dir()
        killed.kill()
        killed.wait()
    assert Path(left).is_dir()
    with other_pilot() as (_, _, alive):
        mine = find_memory_groups(str(uuid.uuid4()))
        assert mine is not None
        assert not Path(left).exists()
        assert Path(alive).is_dir()
        mine.remove()
    again = find_memory_groups(str(uuid.uuid4()))
    assert again is not None
    again.remove()
    assert not Path(alive).exists()


@pytest.mark.needs(ROOT_RIGHTS)
def test_without_the_right_to_make_groups_the_pilot_says_so() -> None:
    with other_pilot(user=65534, group=65534, extra_groups=[], cwd=Path.cwd()) as (_, said, left):
        assert left == "None"
        assert "memory.limits" in said
        assert "each process" in said
        assert "Permission denied" in said


def brake_of(runner: Runner, root: Path, resources: Resources, *, ram: int | None = None) -> int:
    """What a tool is told that each of its processes may have for its data, which follows from what
    it may use of memory; it uses 300 MiB. ``ram``: of the attempt."""
    waits = (
        "import resource as r\nx = bytearray(300 << 20)\nwhile (most :="
        " r.getrlimit(r.RLIMIT_DATA)[0]) < 0: pass\nprint(most)"
    )
    task_ = task(root, python(waits), resources=resources)
    inputs = [input_file(root / "in" / "b.dat")]
    report = runner.attempt(
        task_, job(task_, inputs, job_id=ram or resources.ram).model_copy(update={"ram": ram})
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return int((root / "out" / report.outputs[0].name).read_text())


def test_memory_that_nobody_asked_for_is_limited_by_the_node(runner: Runner, root: Path) -> None:
    """Not by what a job is counted with which asks for none."""
    small = Runner(root.parent / "small", settings={"memory_unasked": 200})
    hungry = python("import time; x = bytearray(300 << 20); time.sleep(60)")
    asks_nothing = Resources(time_limit=30.0)
    report = run(
        small, task(root, hungry, resources=asks_nothing), [input_file(root / "in" / "a.dat")]
    )
    small.close()
    error_class, message = failed(report)
    assert error_class is ErrorClass.OUT_OF_MEMORY
    assert message.endswith(
        "MiB of memory, all that this node lets a job have that asks for none (ramMin): 200 MiB,"
        " and was ended"
    )
    large = Runner(root.parent / "large", settings={"memory_unasked": 4000})
    unasked = brake_of(large, root, asks_nothing)
    large.close()
    assert unasked == brake_of(runner, root, Resources(time_limit=30.0, ram=2000)), (
        "of which twice as much may be used"
    )


def test_another_attempt_may_have_more_memory_than_its_task_asks_for(
    runner: Runner, root: Path
) -> None:
    asks_more = brake_of(runner, root, Resources(time_limit=30.0, ram=400))
    assert brake_of(runner, root, Resources(time_limit=30.0, ram=200)) < asks_more
    assert brake_of(runner, root, Resources(time_limit=30.0, ram=200), ram=400) == asks_more
