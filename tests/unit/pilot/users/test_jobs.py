"""Jobs whose tools run as the user of their slot."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pilot.runner.files.input_protection import MOST_COPIED
from sluice.contracts.needs import Needs, Resources
from sluice.contracts.pilots import AttemptReport
from sluice.contracts.states import AttemptOutcome, ErrorClass
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.attempts import failed, log_of, run
from tests.unit.pilot.builders import input_file, task, tool
from tests.unit.pilot.runner.attempts.test_warm_tools import Jobs
from tests.unit.pilot.runner.inner_workflow.test_workflows import around
from tests.unit.pilot.slot_runner import Runner
from tests.unit.pilot.slot_users import new_user, open_folder, start

pytestmark = [
    pytest.mark.in_the_open("slots have users where there is no sandbox"),
    pytest.mark.needs(ROOT_RIGHTS),
]

READ = {"f": {"type": "File", "inputBinding": {}}}
USERS = [new_user(processes=77), new_user()]


@pytest.fixture(scope="module")
def node() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def runner(node: Path) -> Iterator[Runner]:
    # Root gets into what no user does, and would find programs there.
    (node / "closed").mkdir(mode=0o700)
    runner = start(node, USERS, PATH=f"{node}/closed:{os.environ['PATH']}")
    yield runner
    runner.close()


@pytest.fixture
def root(node: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=node)) / "store"


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """On another file system."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def shell(script: str, **fields: Any) -> dict[str, Any]:
    """A tool; ``$0`` in its script is the input's path."""
    return tool(["sh", "-c", script], inputs=READ, **fields)


def said(report: AttemptReport) -> str:
    """What its tool has written to its output."""
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text()


@pytest.mark.parametrize("inside", [False, True])
def test_a_tool_is_its_slots_user_without_any_rights(
    runner: Runner, root: Path, *, inside: bool
) -> None:
    script = "grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp):' /proc/self/status"
    found = shell(script)
    report = run(
        runner, task(root, around(found) if inside else found), [input_file(root / "in" / "a.dat")]
    )
    status = dict(line.split(":", 1) for line in said(report).splitlines())
    assert status["Uid"].split() == status["Gid"].split() == [str(USERS[0].uid)] * 4
    assert status["Groups"].split() == []
    for capabilities in ("CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"
    assert (
        "contained by a user of its own only: there is none in this test; it had the rights of"
        f" user {USERS[0].name}, and the node's network"
    ) in log_of(report)


def test_a_tool_that_stays_loaded_has_no_rights_either_and_goes_with_all_it_has_started(
    runner: Runner, root: Path
) -> None:
    jobs, journals = Jobs(runner, root), runner.run.journals
    of = jobs.task()
    looks = (
        "lines = dict(line.split(':\t', 1) for line in open('/proc/self/status'))\n"
        "print(len(served), *[lines[key].split() for key in"
        " ('Uid', 'Groups', 'CapEff', 'NoNewPrivs', 'Seccomp')])\n"
        f"try: print(os.listdir({str(journals)!r}))\n"
        "except OSError as error: print(error.strerror)"
    )
    uid = str(USERS[0].uid)
    rights = f"{[uid] * 4} [] {['0' * 16]} ['1'] ['2']\nPermission denied"
    assert [jobs.said(of, looks) for _ in range(2)] == [f"1 {rights}", f"2 {rights}"]
    jobs.said(of, "subprocess.Popen(['sleep', '98.77'], start_new_session=True); print(1)")
    assert jobs.said(of) == "1", "it has left a process, and was ended"
    runner.unload()
    runner.unloaded()
    assert [one.pid for one in psutil.process_iter() if _uid(one) == USERS[0].uid] == []


def _uid(process: psutil.Process) -> int | None:
    try:
        return int(process.uids().real)
    except psutil.NoSuchProcess:
        return None


def test_it_is_no_sandbox_for_a_job_that_asks_for_one(runner: Runner, root: Path) -> None:
    asking = task(root, shell("true")).model_copy(update={"needs": Needs(sandbox=True)})
    error_class, message = failed(run(runner, asking, [input_file(root / "in" / "a.dat")]))
    assert error_class is ErrorClass.INTERNAL
    assert "sluice:sandbox" in message


def test_outputs_are_the_pilots_in_the_end(runner: Runner, root: Path) -> None:
    """Nobody else writes to them any more, whatever the tool has set."""
    made = tool(
        ["sh", "-c", "echo 1 > x; chmod 6777 x; ln -s x y"],
        outputs={"o": {"type": "File", "outputBinding": {"glob": "x"}}},
    )
    del made["stdout"]
    report = run(runner, task(root, made), [input_file(root / "in" / "a.dat")])
    said(report)
    found = os.stat(report.outputs[0].url.removeprefix("file://"))
    assert (found.st_uid, found.st_mode & 0o7777) == (os.geteuid(), 0o755)


def test_its_limits_are_set_before_it_starts(runner: Runner, root: Path) -> None:
    """Those of another user's process are not this one's to set afterwards, without a right that
    containers do not have."""
    limited = task(
        root, shell("cat /proc/self/limits"), resources=Resources(ram=100, disk=3, time_limit=60)
    )
    limits = {
        line[:26].strip(): line[26:].split()[:2]
        for line in said(run(runner, limited, [input_file(root / "in" / "a.dat")])).splitlines()
    }
    assert limits["Max processes"] == ["77", "77"]
    assert limits["Max file size"] == [str(200 << 20)] * 2  # of its memory, which is more
    assert limits["Max core file size"] == ["0", "0"]
    soft, hard = limits["Max data size"]
    assert soft == hard
    assert int(soft) < 4 << 30


def test_it_gets_to_its_folder_by_a_name_without_a_dot(node: Path, root: Path) -> None:
    place = node / "with.dot"
    place.mkdir()
    place.chmod(0o711)
    runner = start(place, [new_user()])
    try:
        report = run(runner, task(root, shell("echo $0")), [input_file(root / "in" / "a.dat")])
        assert "with.dot" not in said(report)
    finally:
        runner.close()
        runner.run.delete()


def test_its_streams_can_be_opened_by_their_paths(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        task(root, shell("echo out > /dev/stdout; echo error > /dev/stderr")),
        [input_file(root / "in" / "a.dat")],
    )
    assert said(report) == "out\n"
    assert "\nerror\n" in log_of(report)


def test_it_has_a_place_for_temporary_files(runner: Runner, root: Path) -> None:
    script = 'echo here > "$TMPDIR/x"; cat `mktemp` "$TMPDIR/x"'
    report = run(runner, task(root, shell(script)), [input_file(root / "in" / "a.dat")])
    assert said(report) == "here\n"


@pytest.mark.parametrize("inside", [False, True])
def test_it_cannot_write_to_inputs(runner: Runner, root: Path, *, inside: bool) -> None:
    writes = shell(
        'for way in "echo more >> $0" "chmod a+w $0" "rm $0" "touch $0.more"; do'
        ' sh -c "$way" "$0" && echo "$way"; done; cat "$0"'
    )
    for number, size in enumerate((5, MOST_COPIED + 1)):
        file = input_file(root / "in" / f"{number}.dat", data=b"x" * size)
        report = run(runner, task(root, around(writes) if inside else writes), [file], seq=number)
        assert said(report) == "x" * size


@pytest.mark.parametrize("place", ["beside", "elsewhere"])
@pytest.mark.parametrize("closed", ["file", "folder", "nothing"])
@pytest.mark.parametrize("shared", [False, True])
def test_it_reads_inputs_also_where_the_storage_lets_nobody_read_them(
    runner: Runner, root: Path, elsewhere: Path, place: str, closed: str, *, shared: bool
) -> None:
    """A link to a file that is closed would not do, nor, on another file system, one into a folder
    that is."""
    folder = root if place == "beside" else elsewhere
    file = input_file(folder / "in" / "large.dat", data=bytes(MOST_COPIED + 1))
    path = folder / "in" / "large.dat"
    if closed != "nothing":
        (path if closed == "file" else path.parent).chmod(0o600)
    script = 'wc -c < "$0"; if [ -L "$0" ]; then echo link; else stat -c %h "$0"; fi'
    reads = task(root, shell(script))
    inputs = [file]
    if shared:
        reads = task(
            root,
            tool(
                ["sh", "-c", script],
                inputs={"f": {"type": "File"}, "s": {"type": "File", "inputBinding": {}}},
            ),
            side_ports=["s"],
            shared_inputs=[file.model_copy(update={"port": "s"})],
        )
        inputs = [input_file(root / "in" / "a.dat")]
    for seq in range(2):
        size, names = said(run(runner, reads, inputs, seq=seq)).split()
        assert int(size) == MOST_COPIED + 1
        # Copied only where it has to be.
        assert (names == "link") == (closed == "nothing" and place == "elsewhere")
        assert shared or place == "elsewhere" or (names == "1") == (closed == "file")


def test_it_ends_only_itself_when_it_kills_all(runner: Runner, root: Path) -> None:
    slot = runner.slot_pid
    file = input_file(root / "in" / "a.dat")
    report = run(runner, task(root, shell("sleep 600 & kill -9 -1; wait; echo alone")), [file])
    assert said(report) == "alone\n"
    report = run(runner, task(root, shell("cat $0")), [input_file(root / "in" / "b.dat")], seq=1)
    assert (said(report), runner.slot_pid) == ("frame", slot)


def test_all_processes_of_its_user_end_with_it(runner: Runner, root: Path) -> None:
    """Also one that no job has started."""
    user = USERS[0]
    with subprocess.Popen(["sleep", "600"], user=user.uid, group=user.gid) as stray:
        report = run(
            runner,
            task(root, shell("setsid sleep 601 & exec setsid true")),
            [input_file(root / "in" / "a.dat")],
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        try:
            assert stray.wait(20) == -signal.SIGKILL
        finally:
            stray.kill()
    found = psutil.process_iter(["uids", "name"])
    assert [one.info["name"] for one in found if user.uid in (one.info["uids"] or ())] == []


def test_slots_do_not_get_at_each_others_jobs(runner: Runner, root: Path) -> None:
    first, folder = runner.connection, runner.run.path / "slots" / f"{runner.slot_pid}-1"
    (folder / "in" / "of-another.txt").write_text("nobody-may-see-this")
    runner.open_slot(1)
    try:
        tries = shell(
            f"id -u; for path in {folder} {folder}/in {folder}/out; do ls $path && echo seen; done;"
            f" cat {folder}/in/of-another.txt; touch {folder}/out/x && echo made; true"
        )
        report = run(runner, task(root, tries), [input_file(root / "in" / "a.dat")])
        assert said(report) == f"{USERS[1].uid}\n"
        assert log_of(report).count("Permission denied") == 5
    finally:
        runner.connection.close()
        runner.connection = first
        (folder / "in" / "of-another.txt").unlink()


def test_a_program_that_is_not_there_is_said_as_ever(runner: Runner, root: Path) -> None:
    file = input_file(root / "in" / "a.dat")
    for command, sentence in (
        ("nothing-such", "program 'nothing-such' was not found on this node's PATH"),
        ("/usr/bin/nothing-such", "does not exist on this node"),
        ("/etc/passwd", "cannot be started: Permission denied"),
    ):
        assert sentence in failed(run(runner, task(root, tool([command])), [file]))[1]


def test_the_loader_does_nothing_for_the_tool_before_it_is_the_user(
    runner: Runner, root: Path
) -> None:
    """A template sets what it looks at."""
    place = root.parent
    place.chmod(0o777)
    traced = tool(
        [sys.executable, "-I", "-S", "-c", "pass"],
        requirements={
            "EnvVarRequirement": {
                "envDef": {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{place}/trace"}
            }
        },
    )
    report = run(runner, task(root, traced), [input_file(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert {path.stat().st_uid for path in place.glob("trace*")} == {USERS[0].uid}
