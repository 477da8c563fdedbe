"""Tests of jobs whose tools run as the user of their slot."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pilot.runner.files.input_protection import MAX_COPIED
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.pilots.reports import AttemptReport
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.attempts import get_error, read_log, run
from tests.unit.pilot.builders import TOOL_PYTHON, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.attempts.warm_jobs import WarmJobs
from tests.unit.pilot.slot_runner import Runner
from tests.unit.pilot.slot_users import make_user, open_folder, start_slot_as_users

pytestmark = [
    pytest.mark.in_the_open("slots have users where there is no sandbox"),
    pytest.mark.needs(ROOT_RIGHTS),
]

READ = {"f": {"type": "File", "inputBinding": {}}}
USERS = [make_user(processes=77), make_user()]


@pytest.fixture(scope="module")
def job_folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def runner(job_folder: Path) -> Iterator[Runner]:
    # Root can enter this folder and would find programs there. Other users cannot.
    (job_folder / "closed").mkdir(mode=0o700)
    runner = start_slot_as_users(
        job_folder, USERS, PATH=f"{job_folder}/closed:{os.environ['PATH']}"
    )
    yield runner
    runner.close()


@pytest.fixture
def root(job_folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=job_folder)) / "store"


@pytest.fixture
def folder_on_other_file_system() -> Iterator[Path]:
    """Return a folder on another file system."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def make_shell_tool(script: str, **fields: Any) -> dict[str, Any]:
    """Return a tool that runs a script. ``$0`` in the script is the path of the input."""
    return make_tool(["sh", "-c", script], inputs=READ, **fields)


def read_output(report: AttemptReport) -> str:
    """Return the output of the tool."""
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text()


@pytest.mark.parametrize("inside", [False, True])
def test_tool_runs_as_the_slot_user_without_capabilities(
    runner: Runner, root: Path, *, inside: bool
) -> None:
    script = "grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp):' /proc/self/status"
    process = make_shell_tool(script)
    report = run(
        runner,
        make_task(root, wrap_in_workflow(process) if inside else process),
        [write_input(root / "in" / "a.dat")],
    )
    status = dict(line.split(":", 1) for line in read_output(report).splitlines())
    assert status["Uid"].split() == status["Gid"].split() == [str(USERS[0].uid)] * 4
    assert status["Groups"].split() == []
    for capabilities in ("CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"
    assert (
        "contained only by a separate user: there is none in this test; it had the rights of"
        f" user {USERS[0].name}, and the node's network"
    ) in read_log(report)


def test_warm_worker_runs_without_capabilities_and_ends_with_its_processes(
    runner: Runner, root: Path
) -> None:
    jobs, journals = WarmJobs(runner, root), runner.run.journals
    warm_task = jobs.task()
    looks = (
        "lines = dict(line.split(':\t', 1) for line in open('/proc/self/status'))\n"
        "print(len(served), *[lines[key].split() for key in"
        " ('Uid', 'Groups', 'CapEff', 'NoNewPrivs', 'Seccomp')])\n"
        f"try: print(os.listdir({str(journals)!r}))\n"
        "except OSError as error: print(error.strerror)"
    )
    uid = str(USERS[0].uid)
    rights = f"{[uid] * 4} [] {['0' * 16]} ['1'] ['2']\nPermission denied"
    assert [jobs.run_and_read(warm_task, looks) for _ in range(2)] == [f"1 {rights}", f"2 {rights}"]
    jobs.run_and_read(
        warm_task, "subprocess.Popen(['sleep', '98.77'], start_new_session=True); print(1)"
    )
    assert jobs.run_and_read(warm_task) == "1", (
        "the worker was restarted after it had left a process"
    )
    runner.unload()
    runner.wait_for_unload()
    assert [one.pid for one in psutil.process_iter() if _get_uid(one) == USERS[0].uid] == []


def _get_uid(process: psutil.Process) -> int | None:
    try:
        return int(process.uids().real)
    except psutil.NoSuchProcess:
        return None


def test_slot_user_is_not_a_sandbox_for_a_job_that_requires_one(runner: Runner, root: Path) -> None:
    asking = make_task(root, make_shell_tool("true")).model_copy(
        update={"needs": Needs(sandbox=True)}
    )
    error_class, message = get_error(run(runner, asking, [write_input(root / "in" / "a.dat")]))
    assert error_class is ErrorClass.INTERNAL
    assert "sluice:sandbox" in message


def test_outputs_belong_to_the_pilot_after_the_job(runner: Runner, root: Path) -> None:
    """Other users cannot write to them, whatever mode the tool has set."""
    process = make_tool(
        ["sh", "-c", "echo 1 > x; chmod 6777 x; ln -s x y"],
        outputs={"o": {"type": "File", "outputBinding": {"glob": "x"}}},
    )
    del process["stdout"]
    report = run(runner, make_task(root, process), [write_input(root / "in" / "a.dat")])
    read_output(report)
    stat = os.stat(report.outputs[0].url.removeprefix("file://"))
    assert (stat.st_uid, stat.st_mode & 0o7777) == (os.geteuid(), 0o755)


def test_resource_limits_are_set_before_the_tool_starts(runner: Runner, root: Path) -> None:
    """To set limits of a process of another user later takes a capability that containers lack."""
    limited = make_task(
        root,
        make_shell_tool("cat /proc/self/limits"),
        resources=Resources(ram=100, disk=3, time_limit=60),
    )
    limits = {
        line[:26].strip(): line[26:].split()[:2]
        for line in read_output(
            run(runner, limited, [write_input(root / "in" / "a.dat")])
        ).splitlines()
    }
    assert limits["Max processes"] == ["77", "77"]
    assert limits["Max file size"] == [str(200 << 20)] * 2  # The limit of the memory is larger.
    assert limits["Max core file size"] == ["0", "0"]
    soft, hard = limits["Max data size"]
    assert soft == hard
    assert int(soft) < 4 << 30


def test_slot_user_reaches_the_job_folder_by_a_path_without_a_dot(
    job_folder: Path, root: Path
) -> None:
    place = job_folder / "with.dot"
    place.mkdir()
    place.chmod(0o711)
    runner = start_slot_as_users(place, [make_user()])
    try:
        report = run(
            runner,
            make_task(root, make_shell_tool("echo $0")),
            [write_input(root / "in" / "a.dat")],
        )
        assert "with.dot" not in read_output(report)
    finally:
        runner.close()
        runner.run.delete()


def test_slot_user_can_open_its_standard_streams_by_path(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, make_shell_tool("echo out > /dev/stdout; echo error > /dev/stderr")),
        [write_input(root / "in" / "a.dat")],
    )
    assert read_output(report) == "out\n"
    assert "\nerror\n" in read_log(report)


def test_slot_user_has_a_folder_for_temporary_files(runner: Runner, root: Path) -> None:
    script = 'echo here > "$TMPDIR/x"; cat `mktemp` "$TMPDIR/x"'
    report = run(
        runner, make_task(root, make_shell_tool(script)), [write_input(root / "in" / "a.dat")]
    )
    assert read_output(report) == "here\n"


@pytest.mark.parametrize("inside", [False, True])
def test_slot_user_cannot_write_to_inputs(runner: Runner, root: Path, *, inside: bool) -> None:
    writes = make_shell_tool(
        'for way in "echo more >> $0" "chmod a+w $0" "rm $0" "touch $0.more"; do'
        ' sh -c "$way" "$0" && echo "$way"; done; cat "$0"'
    )
    for number, size in enumerate((5, MAX_COPIED + 1)):
        file = write_input(root / "in" / f"{number}.dat", data=b"x" * size)
        report = run(
            runner,
            make_task(root, wrap_in_workflow(writes) if inside else writes),
            [file],
            seq=number,
        )
        assert read_output(report) == "x" * size


@pytest.mark.parametrize("place", ["beside", "elsewhere"])
@pytest.mark.parametrize("closed", ["file", "folder", "nothing"])
@pytest.mark.parametrize("shared", [False, True])
def test_slot_user_can_read_inputs_of_a_closed_storage(
    runner: Runner,
    root: Path,
    folder_on_other_file_system: Path,
    place: str,
    closed: str,
    *,
    shared: bool,
) -> None:
    """A hard link to a closed file would not do. On another file system, a symbolic link into a
    closed folder would not do either."""
    folder = root if place == "beside" else folder_on_other_file_system
    file = write_input(folder / "in" / "large.dat", data=bytes(MAX_COPIED + 1))
    path = folder / "in" / "large.dat"
    if closed != "nothing":
        (path if closed == "file" else path.parent).chmod(0o600)
    script = 'wc -c < "$0"; if [ -L "$0" ]; then echo link; else stat -c %h "$0"; fi'
    reads = make_task(root, make_shell_tool(script))
    inputs = [file]
    if shared:
        reads = make_task(
            root,
            make_tool(
                ["sh", "-c", script],
                inputs={"f": {"type": "File"}, "s": {"type": "File", "inputBinding": {}}},
            ),
            side_ports=["s"],
            shared_inputs=[file.model_copy(update={"port": "s"})],
        )
        inputs = [write_input(root / "in" / "a.dat")]
    for seq in range(2):
        size, names = read_output(run(runner, reads, inputs, seq=seq)).split()
        assert int(size) == MAX_COPIED + 1
        # The file is copied only where this is necessary.
        assert (names == "link") == (closed == "nothing" and place == "elsewhere")
        assert shared or place == "elsewhere" or (names == "1") == (closed == "file")


def test_tool_that_kills_all_processes_ends_only_its_own(runner: Runner, root: Path) -> None:
    slot = runner.slot_pid
    file = write_input(root / "in" / "a.dat")
    report = run(
        runner, make_task(root, make_shell_tool("sleep 600 & kill -9 -1; wait; echo alone")), [file]
    )
    assert read_output(report) == "alone\n"
    report = run(
        runner,
        make_task(root, make_shell_tool("cat $0")),
        [write_input(root / "in" / "b.dat")],
        seq=1,
    )
    assert (read_output(report), runner.slot_pid) == ("frame", slot)


def test_all_processes_of_the_slot_user_end_with_the_job(runner: Runner, root: Path) -> None:
    """A process that no job has started ends, too."""
    user = USERS[0]
    with subprocess.Popen(["sleep", "600"], user=user.uid, group=user.gid) as stray:
        report = run(
            runner,
            make_task(root, make_shell_tool("setsid sleep 601 & exec setsid true")),
            [write_input(root / "in" / "a.dat")],
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        try:
            assert stray.wait(20) == -signal.SIGKILL
        finally:
            stray.kill()
    processes = psutil.process_iter(["uids", "name"])
    assert [one.info["name"] for one in processes if user.uid in (one.info["uids"] or ())] == []


def test_slot_user_cannot_read_or_write_files_of_another_slot(runner: Runner, root: Path) -> None:
    first, folder = runner.connection, runner.run.path / "slots" / f"{runner.slot_pid}-1"
    (folder / "in" / "of-another.txt").write_text("nobody-may-see-this")
    runner.open_slot(1)
    try:
        tries = make_shell_tool(
            f"id -u; for path in {folder} {folder}/in {folder}/out; do ls $path && echo seen; done;"
            f" cat {folder}/in/of-another.txt; touch {folder}/out/x && echo made; true"
        )
        report = run(runner, make_task(root, tries), [write_input(root / "in" / "a.dat")])
        assert read_output(report) == f"{USERS[1].uid}\n"
        assert read_log(report).count("Permission denied") == 5
    finally:
        runner.connection.close()
        runner.connection = first
        (folder / "in" / "of-another.txt").unlink()


def test_missing_program_is_reported_as_without_slot_users(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "a.dat")
    for command, sentence in (
        ("nothing-such", "program 'nothing-such' was not found on this node's PATH"),
        ("/usr/bin/nothing-such", "does not exist on this node"),
        ("/etc/passwd", "cannot be started: Permission denied"),
    ):
        assert sentence in get_error(run(runner, make_task(root, make_tool([command])), [file]))[1]


def test_dynamic_loader_does_not_follow_the_environment_of_the_tool_as_root(
    runner: Runner, root: Path
) -> None:
    """Templates set variables that the loader reads."""
    place = root.parent
    place.chmod(0o777)
    traced = make_tool(
        [TOOL_PYTHON, "-I", "-S", "-c", "pass"],
        requirements={
            "EnvVarRequirement": {
                "envDef": {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{place}/trace"}
            }
        },
    )
    report = run(runner, make_task(root, traced), [write_input(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert {path.stat().st_uid for path in place.glob("trace*")} == {USERS[0].uid}
