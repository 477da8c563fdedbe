"""`sluice up` and `sluice down` while jobs run, and after the system was killed."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from spd import demo

from sluice.contracts.common.states import JobState
from sluice.embedded.home import Home
from stack.ports import free_ports
from tests.e2e.commands import SLUICE, run_sluice, write_texts, write_workflow
from tests.e2e.systems import NO_CONTAINERS, LiveSystem, open_home_folder
from tests.servers.running_processes import list_processes_below
from tests.waiting import Gate, wait_until

pytestmark = pytest.mark.xdist_group("e2e-up-and-down")

#: Creates a file when it begins, and waits at the gate.
WAIT = "[sh, -c, 'touch {folder}/begun; : < {gate}; cat \"$0\"']"


@dataclass(frozen=True, slots=True)
class SystemHome:
    """A home folder and a job of its system, which waits at the gate."""

    home: Path
    folder: Path
    gate: Gate

    def up(self, *options: str) -> None:
        (self.folder / "begun").unlink(missing_ok=True)
        run_sluice("up", "--detach", "--port", "0", "--slots", "1", *options, *self.option)

    @property
    def option(self) -> list[str]:
        return ["--home", str(self.home)]

    def start_job(self) -> None:
        workflow = write_workflow(
            self.folder / "waits.cwl", command=WAIT.format(folder=self.folder, gate=self.gate)
        )
        run_sluice("template", "upload", str(workflow), *self.option)
        texts = write_texts(self.folder / "in", "a")
        registered = json.loads(
            run_sluice("dataset", "register", "texts", *texts, "--json", *self.option).stdout
        )
        run_sluice("chain", "start", registered["uid"], "waits", *self.option)

    def wait_for_job(self) -> None:
        wait_until((self.folder / "begun").exists, what="the job runs", seconds=60)

    def job(self) -> dict[str, Any]:
        """Return the job of the step ``shout``."""
        tasks = json.loads(run_sluice("task", "list", "--json", *self.option).stdout)
        [task] = [task for task in tasks if task["step"] == "shout"]
        [job] = json.loads(
            run_sluice("task", "jobs", task["task_uid"], "--json", *self.option).stdout
        )
        return dict(job)

    @contextmanager
    def start_stop(self) -> Iterator["subprocess.Popen[str]"]:
        """Run ``sluice down`` until it says that it waits for the job."""
        command = [SLUICE, "down", *self.option]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as down:
            assert down.stderr is not None
            assert down.stderr.readline().startswith("waiting for 1 job to end")
            yield down


@pytest.fixture
def system_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SystemHome]:
    """Yield a place without a sandbox, as the tool writes a file of the test."""
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX", "off")
    with open_home_folder() as home:
        place = SystemHome(home, tmp_path, Gate(tmp_path / "go"))
        yield place
        run_sluice("down", "--now", *place.option)


def test_killed_system_leaves_no_processes(system_home: SystemHome) -> None:
    for again in (True, False):
        system_home.up()
        owner = Home(system_home.home).owner()
        assert owner is not None
        os.kill(owner.pid, signal.SIGKILL)
        if again:
            system_home.up()
        run_sluice("down", *system_home.option)
        assert list_processes_below(system_home.home) == []


@pytest.mark.long("the test of Ctrl-C below is shorter")
def test_stop_waits_for_running_jobs_or_returns_them(system_home: SystemHome) -> None:
    """An option, Ctrl-C or a drain timeout ends the wait."""
    system_home.up()
    system_home.start_job()
    system_home.wait_for_job()
    assert "stopped" in run_sluice("down", "--now", *system_home.option).stdout

    system_home.up("--drain-timeout", "0.5")
    system_home.wait_for_job()
    assert "stopped" in run_sluice("down", *system_home.option).stdout

    system_home.up()
    system_home.wait_for_job()
    assert system_home.job()["attempt"] == 3, "the job was returned twice"
    with system_home.start_stop() as down:
        down.send_signal(signal.SIGINT)
        assert down.wait(60) == 0

    system_home.up()
    system_home.wait_for_job()
    with system_home.start_stop() as down:
        system_home.gate.open()
        assert down.wait(60) == 0
        assert down.stdout is not None
        assert down.stdout.read() == "stopped\n"
    system_home.up()
    wait_until(
        lambda: system_home.job()["state"] == JobState.FINISHED,
        what="the stored report of the job",
        seconds=60,
    )
    assert system_home.job()["attempt"] == 4, "the stop waited for the job"


def test_ctrl_c_waits_for_running_jobs(system_home: SystemHome) -> None:
    """The signal goes to all processes of the terminal, as in a shell."""
    command = [SLUICE, "up", "--port", "0", "--slots", "1", *system_home.option]
    environment = os.environ | NO_CONTAINERS
    log_file = system_home.folder / "said"
    with log_file.open("w") as output:
        up = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    wait_until(lambda: Home(system_home.home).running(), what="the system is up", seconds=60)
    system_home.start_job()
    system_home.wait_for_job()
    os.killpg(up.pid, signal.SIGINT)
    wait_until(
        lambda: "waiting for 1 job to end (Ctrl-C once more" in log_file.read_text(),
        what="the message about the running job",
        seconds=60,
    )
    assert psutil.Process(up.pid).is_running()
    os.killpg(up.pid, signal.SIGINT)
    assert up.wait(60) == 0
    assert list_processes_below(system_home.home) == []


def test_occupied_port_is_reported_in_one_sentence(
    system_home: SystemHome, system: LiveSystem
) -> None:
    port = system.url.rpartition(":")[2]
    for command in (["up", "--detach"], ["up"]):
        stderr = run_sluice(*command, "--port", port, *system_home.option, code=1).stderr
        assert (
            stderr
            == f"error: port {port} of 127.0.0.1 is taken by a Sluice system with another home"
            " folder: choose another one with --port (0: any free one)\n"
        )
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        stderr = run_sluice(
            "up", "--detach", "--port", str(port), *system_home.option, code=1
        ).stderr
        assert stderr.startswith(f"error: port {port} of 127.0.0.1 is taken by another program: ")
        assert stderr.count("\n") == 1


@pytest.mark.long("`make demo` does the same")
def test_demonstration_that_keeps_its_system_tells_how_to_stop_it(
    system_home: SystemHome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system uses the requested port, and the printed command works without a PATH."""
    [port] = free_ports(1)
    monkeypatch.setenv("SLUICE_PORT", str(port))
    monkeypatch.setattr(demo, "RUNS", demo.RUNS[:1])
    assert demo.main(["--home", str(system_home.home), "--frames", "2", "--keep"]) == 0
    output = capsys.readouterr().out
    assert f"look at http://127.0.0.1:{port}" in output
    [command] = re.findall("stop it with `(.*)`", output)
    done = subprocess.run(
        shlex.split(command), env={"HOME": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "stopped\n")


def read_waiting_reason(place: SystemHome) -> str:
    """Return the reason that `sluice run` prints for its first step, and leave its chain."""
    workflow = write_workflow(place.folder / "run.cwl")
    texts = write_texts(place.folder / "run", "a")
    out = ["-o", str(place.folder / "out")]
    command = [SLUICE, "run", str(workflow), "-i", *texts, *out, *place.option, "--wait"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "waits:" in line)
        process.send_signal(signal.SIGINT)
        process.communicate()
    return line


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        pytest.param(
            "SLUICE_PILOT_CORES",
            "none",
            "SLUICE_PILOT_CORES: Input should be a valid number",
            marks=pytest.mark.long("a missing sandbox is reported in the same way"),
        ),
        ("PATH", "/nowhere", "SLUICE_PILOT_SANDBOX is required, but there is no bubblewrap"),
    ],
    ids=["wrong setting", "no sandbox"],
)
def test_pilot_that_cannot_start_is_reported(
    system_home: SystemHome, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    """``up``, ``status`` and a waiting ``run`` report the pilot as long as the problem lasts."""
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX", "required")
    monkeypatch.setenv(variable, value)
    result = run_sluice("up", "--detach", "--port", "0", *system_home.option, code=1)
    assert result.stdout.startswith("Sluice is ready at http://")
    assert f"warning: pilot embedded-1 is not running: {reason}" in result.stderr
    assert "pilot-embedded-1.log" in result.stderr

    output = run_sluice("status", *system_home.option, code=1).stdout
    assert f"  pilot embedded-1: not running: {reason}" in output
    assert {"  dms: ok", "  wms: ok"} < set(output.splitlines())
    waits = read_waiting_reason(system_home)
    assert "No pilot: no registered pilot is alive" in waits
    assert f"(pilot embedded-1 is not running: {reason}" in waits

    run_sluice("down", *system_home.option)
    monkeypatch.undo()
    assert run_sluice("up", "--detach", "--port", "0", *system_home.option).stderr == ""
    assert "  pilot embedded-1: ok\n" in run_sluice("status", *system_home.option).stdout
