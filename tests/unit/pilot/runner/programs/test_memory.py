"""Tests that a tool that takes memory as fast as it can is ended at its limit."""

import fcntl
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from pilot.isolation.node import memory_groups
from pilot.isolation.node.memory_groups import ControlGroupSettings, find_memory_groups, limit_file
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.needs import Resources, Warm
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.needs import MEMORY_GROUPS, ROOT_RIGHTS
from tests.unit.pilot.attempts import get_error, make_python_tool, read_log, run
from tests.unit.pilot.builders import make_job, make_task, make_tool, write_input
from tests.unit.pilot.runner.attempts.warm_jobs import OBEYS
from tests.unit.pilot.slot_runner import Runner

#: MiB. The tools request the first amount and may use twice as much.
RAM, LIMIT = 128, 256
#: Takes up to 3 GiB in pieces of 16 MiB and prints how many MiB it has.
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
    found_groups = find_memory_groups(str(uuid.uuid4()))
    if found_groups is None:
        pytest.fail("no memory control group can be made on this machine", pytrace=False)
    yield found_groups.groups
    found_groups.remove()
    assert not Path(found_groups.groups.folder).exists()


@pytest.fixture(scope="module")
def group_slot(
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
def slot(kind: str, request: pytest.FixtureRequest) -> Runner:
    """Return a slot that limits the memory of its tools in one of the two ways."""
    slot: Runner = request.getfixturevalue("group_slot" if kind == "group" else "runner")
    return slot


def run_tool(runner: Runner, root: Path, command: list[str], *arguments: str) -> AttemptReport:
    command_task = make_command_task(root, command, *arguments)
    return run(runner, command_task, [write_input(root / "in" / "a.dat")])


def read_taken_memory(report: AttemptReport) -> int:
    """Return how many MiB the greedy tool had."""
    return int(read_log(report).rpartition("taken: ")[2].splitlines()[0])


def make_command_task(root: Path, command: list[str], *arguments: str) -> PilotTask:
    return make_task(
        root,
        make_tool(command, arguments=list(arguments)),
        resources=Resources(ram=RAM, time_limit=60.0),
    )


def test_greedy_tool_is_ended_at_its_memory_limit(slot: Runner, kind: str, root: Path) -> None:
    report = run_tool(slot, root, ["python3", "-c"], GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY, report.message
    assert report.message.endswith(
        f" MiB of memory, having asked for {RAM} MiB (ramMin), which lets it use {LIMIT} MiB, and"
        " was ended"
    )
    max_memory = LIMIT if kind == "group" else 2 * LIMIT + 1024 + 64 * (os.cpu_count() or 1)
    assert 0.5 * LIMIT < read_taken_memory(report) <= max_memory
    assert report.peak_memory is not None
    assert report.peak_memory >= LIMIT


def test_processes_of_a_tool_share_its_memory_limit(slot: Runner, root: Path) -> None:
    script = 'for n in 1 2 3 4; do python3 -c "$0" & done; wait; exit 5'
    report = run_tool(slot, root, ["sh", "-c"], script, GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY, report.message


def test_memory_of_a_replaced_warm_worker_does_not_count_for_the_next(
    slot: Runner, root: Path
) -> None:
    """Both workers stay loaded after their jobs."""
    of = make_task(
        root,
        make_tool([sys.executable, "-c", OBEYS], arguments=["$(inputs.f.path)"]),
        warm=Warm(kind="a", key=["f"]),
        resources=Resources(ram=RAM, time_limit=60.0),
    )
    reports = []
    for number, mib in enumerate((RAM, RAM + 1, LIMIT + 50)):
        code = f"import builtins; builtins.kept = b'x' * ({mib} << 20); work(0.6)"
        file = write_input(root / "in" / f"{number}.txt", data=code.encode())
        reports.append(run(slot, of, [file], seq=number))
    assert [report.error_class for report in reports] == [None, None, ErrorClass.OUT_OF_MEMORY]
    assert all((report.peak_memory or 0) >= RAM for report in reports)


@pytest.mark.needs(MEMORY_GROUPS)
def test_tool_with_a_process_killed_for_memory_fails_despite_exit_code_zero(
    group_slot: Runner, root: Path
) -> None:
    report = run_tool(group_slot, root, ["sh", "-c"], 'python3 -c "$0"; exit 0', GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY, report.message


@pytest.mark.parametrize(
    ("ram", "error"), [(700, ErrorClass.OUT_OF_MEMORY), (1500, ErrorClass.PILOT_LOST)]
)
@pytest.mark.needs(MEMORY_GROUPS)
def test_lack_of_node_memory_is_the_fault_of_a_job_that_exceeds_its_request(
    ram: int, error: ErrorClass, groups: ControlGroupSettings, group_slot: Runner, root: Path
) -> None:
    limit = Path(groups.folder, limit_file(groups))
    before = limit.read_text()
    limit.write_text(str(1 << 30))
    try:
        greedy = make_tool(["python3", "-c"], arguments=[GREEDY])
        prepared = make_task(root, greedy, resources=Resources(ram=ram))
        report = run(group_slot, prepared, [write_input(root / "in" / "a.dat")])
    finally:
        limit.write_text(before if before.strip() == "max" else "-1")
    assert report.error_class is error
    assert report.message.startswith(
        "was ended by the kernel: the node had no memory left, of which it used "
    )
    assert f" MiB, having asked for {ram} MiB (ramMin), which lets it use " in report.message


def test_memory_limit_applies_to_each_tool_anew(slot: Runner, root: Path) -> None:
    for _ in range(2):
        run_tool(slot, root, ["python3", "-c"], GREEDY)
        report = run_tool(
            slot, root, ["python3", "-c", f"print(len(bytearray({LIMIT // 2} << 20)))"]
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message


def test_reserved_address_space_does_not_count_as_memory(slot: Runner, root: Path) -> None:
    reserve = (
        "import mmap; kept = mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,"
        " prot=0); print('fine')"
    )
    report = run_tool(slot, root, ["python3", "-c", reserve])
    assert report.outcome is AttemptOutcome.FINISHED, report.message


def test_memory_error_of_a_tool_is_classified_as_out_of_memory(runner: Runner, root: Path) -> None:
    limit_test = "resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY"
    greedy = f"import resource\nwhile not {limit_test}: pass\nbytearray(3 << 30)"
    report = run_tool(runner, root, ["python3", "-c", greedy])
    assert report.error_class is ErrorClass.OUT_OF_MEMORY
    assert "MemoryError" in report.message
    assert f"it may use {LIMIT} MiB of memory (ramMin)" in report.message


@pytest.mark.needs(MEMORY_GROUPS)
def test_page_cache_of_earlier_jobs_does_not_extend_the_memory_limit(
    group_slot: Runner, root: Path
) -> None:
    """The page cache does not count as memory of the next job either."""
    for number in range(4):
        report = run_tool(
            group_slot,
            root,
            ["sh", "-c", "head -c 200000000 /dev/zero > large; sync; cat large > /dev/null"],
        )
        assert report.outcome is AttemptOutcome.FINISHED, (number, report.message)
    report = run_tool(group_slot, root, ["python3", "-c"], GREEDY)
    assert report.error_class is ErrorClass.OUT_OF_MEMORY
    assert read_taken_memory(report) <= LIMIT + 256


@pytest.mark.needs(MEMORY_GROUPS)
def test_slot_survives_a_tool_that_runs_out_of_memory(group_slot: Runner, root: Path) -> None:
    before = group_slot.slot_pid
    run_tool(group_slot, root, ["python3", "-c"], GREEDY)
    assert run_tool(group_slot, root, ["true"]).outcome is AttemptOutcome.FINISHED
    assert Path(f"/proc/{before}").exists()


#: Makes control groups as a pilot does, prints their folder, and waits.
PILOT = """
import os, sys
from pilot.isolation.node.memory_groups import find_memory_groups
if len(sys.argv) > 2:
    user = int(sys.argv[2])
    os.setgroups([]), os.setgid(user), os.setuid(user)
found = find_memory_groups(sys.argv[1])
print("there is", found and found.groups.folder, flush=True)
sys.stdin.read()
"""


@contextmanager
def start_other_pilot(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """Start another pilot, as the user in ``arguments`` if there is one. Yield its process, its
    messages and the folder of its groups."""
    command = [sys.executable, "-c", PILOT, str(uuid.uuid4()), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        output = ""
        while not (line := process.stdout.readline()).startswith("there is "):
            assert line
            output += line
        yield process, output, line.split()[2]
        process.kill()


@pytest.mark.needs(MEMORY_GROUPS)
def test_slot_removes_groups_of_ended_slots_and_keeps_groups_of_starting_slots(
    groups: ControlGroupSettings, group_slot: Runner
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    ended_group, entering = (Path(groups.folder, f"slot-{pid}") for pid in (ended.pid, os.getpid()))
    ended_group.mkdir()
    entering.mkdir()
    group_slot.connection.close()
    group_slot.open_slot()
    assert not ended_group.exists()
    entering.rmdir()


#: Makes and removes control groups as a pilot does, many times.
BUSY = """
import sys, uuid
from pilot.isolation.node.memory_groups import find_memory_groups
print(flush=True)
sys.stdin.read()
for _ in range(200):
    found = find_memory_groups(str(uuid.uuid4()))
    assert found is not None
    found.remove()
"""


@pytest.mark.needs(MEMORY_GROUPS)
@pytest.mark.usefixtures("groups")
def test_pilots_that_start_together_each_have_their_own_groups() -> None:
    wait, start_pipe = os.pipe()
    with ExitStack() as stack:
        command = [sys.executable, "-c", BUSY]
        pilots = [
            stack.enter_context(subprocess.Popen(command, stdin=wait, stdout=subprocess.PIPE))
            for _ in range(3)
        ]
        for pilot in pilots:
            assert pilot.stdout is not None
            assert pilot.stdout.readline() == b"\n"
        os.close(start_pipe)
        os.close(wait)
        outputs = [pilot.communicate()[0] for pilot in pilots]
        assert [pilot.returncode for pilot in pilots] == [0] * len(pilots), outputs


def test_group_that_its_pilot_made_again_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pilot removes a group without a lock, and it is made again while another pilot waits."""
    group = tmp_path / "sluice-mine"
    group.mkdir()

    def lock_replaced_folder(descriptor: int, operation: int) -> None:
        group.rmdir()
        group.mkdir()
        lock(descriptor, operation)

    lock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock_replaced_folder)
    memory_groups.remove_groups(str(group))
    assert group.is_dir()


def test_pilot_that_cannot_make_groups_returns_to_its_own_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fakes the files of cgroup version 2, which not every machine has."""
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
def test_groups_of_a_killed_pilot_are_removed_and_other_groups_are_kept() -> None:
    with start_other_pilot() as (killed, _, remaining_groups):
        assert Path(remaining_groups).is_dir()
        killed.kill()
        killed.wait()
    assert Path(remaining_groups).is_dir()
    with start_other_pilot() as (_, _, alive):
        own_groups = find_memory_groups(str(uuid.uuid4()))
        assert own_groups is not None
        assert not Path(remaining_groups).exists()
        assert Path(alive).is_dir()
        own_groups.remove()
    again = find_memory_groups(str(uuid.uuid4()))
    assert again is not None
    again.remove()
    assert not Path(alive).exists()


@pytest.mark.needs(ROOT_RIGHTS)
def test_pilot_without_permission_to_make_groups_logs_the_reason() -> None:
    with start_other_pilot("65534") as (_, output, remaining_groups):
        assert remaining_groups == "None"
        assert "memory.limits" in output
        assert "each process" in output
        assert "Permission denied" in output


def read_limit(runner: Runner, root: Path, resources: Resources, *, ram: int | None = None) -> int:
    """Return the data limit of each process of a tool, which follows from its memory limit. The
    tool uses 300 MiB. ``ram`` is the memory of the attempt."""
    waits = (
        "import resource as r\nx = bytearray(300 << 20)\nwhile (most :="
        " r.getrlimit(r.RLIMIT_DATA)[0]) < 0: pass\nprint(most)"
    )
    task_ = make_task(root, make_python_tool(waits), resources=resources)
    inputs = [write_input(root / "in" / "b.dat")]
    report = runner.attempt(
        task_, make_job(task_, inputs, job_id=ram or resources.ram).model_copy(update={"ram": ram})
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return int((root / "out" / report.outputs[0].name).read_text())


def test_memory_of_a_job_without_a_request_is_limited_by_the_node(
    runner: Runner, root: Path
) -> None:
    """The default allocation of such a job is not its limit."""
    small = Runner(root.parent / "small", settings={"memory_unasked": 200})
    greedy_tool = make_python_tool("import time; x = bytearray(300 << 20); time.sleep(60)")
    asks_nothing = Resources(time_limit=30.0)
    greedy_task = make_task(root, greedy_tool, resources=asks_nothing)
    report = run(small, greedy_task, [write_input(root / "in" / "a.dat")])
    small.close()
    error_class, message = get_error(report)
    assert error_class is ErrorClass.OUT_OF_MEMORY
    assert message.endswith(
        "MiB of memory, the maximum on this node for a job without a memory request (ramMin): 200"
        " MiB, and was ended"
    )
    large = Runner(root.parent / "large", settings={"memory_unasked": 4000})
    unasked = read_limit(large, root, asks_nothing)
    large.close()
    assert unasked == read_limit(runner, root, Resources(time_limit=30.0, ram=2000)), (
        "a job may use twice as much memory as it requests"
    )


def test_attempt_can_have_more_memory_than_its_task_requests(runner: Runner, root: Path) -> None:
    asks_more = read_limit(runner, root, Resources(time_limit=30.0, ram=400))
    assert read_limit(runner, root, Resources(time_limit=30.0, ram=200)) < asks_more
    assert read_limit(runner, root, Resources(time_limit=30.0, ram=200), ram=400) == asks_more
