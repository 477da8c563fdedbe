"""Findings of `sluice doctor` about a machine."""

import json
import os
import re
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.cli.commands.system import doctor
from sluice.cli.commands.system.doctor import MachineFinding, Severity, examine
from sluice.embedded.home import Home
from tests.servers import commands


def get_finding(home: Path, subject: str) -> MachineFinding:
    return next(finding for finding in examine(home) if finding.subject == subject)


def test_version_option_prints_the_version() -> None:
    result = CliRunner().invoke(command_line(), ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("sluice 0.")


def test_doctor_examines_the_machine_with_the_functions_of_the_pilot(tmp_path: Path) -> None:
    done = commands.run("sluice", "doctor", "--json", "--home", tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    subjects = {finding["subject"]: finding for finding in answer["findings"]}
    assert answer["works"] is True
    assert {"Python", "home", "sandbox", "node.js", "control groups", "GPU"} <= set(subjects)
    assert subjects["sandbox"]["severity"] == "ok"


def test_missing_bubblewrap_is_an_error_only_if_a_sandbox_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("SLUICE_PILOT_SANDBOX", raising=False)
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    preferred = get_finding(tmp_path, "sandbox")
    assert preferred.severity is Severity.NOTE
    assert "no bubblewrap" in preferred.found
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX", "required")
    assert get_finding(tmp_path, "sandbox").severity is Severity.ERROR


def test_doctor_reports_path_locale_proxy_and_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "bin::/usr/bin:/bin")
    monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")
    monkeypatch.setenv("https_proxy", "socks5://user:hidden@proxy.example:1080")
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("SLUICE_PORT", str(other.getsockname()[1]))
        findings = list(examine(tmp_path))
    findings_by_subject = {finding.subject: finding for finding in findings}
    entries = [finding.found for finding in findings if finding.subject == "PATH"]
    assert ["'bin'" in entries[0], "''" in entries[1], len(entries)] == [True, True, 2]
    assert findings_by_subject["locale"].found == "xx_XX.UTF-8 is not installed"
    assert "socksio" in findings_by_subject["https_proxy"].follows
    assert "hidden" not in findings_by_subject["https_proxy"].found
    assert "is in use" in findings_by_subject["port"].found


def test_full_disk_is_an_error_and_the_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_MIN_DISK", 2**62)
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    result = CliRunner().invoke(command_line("doctor"), ["doctor", "--home", str(tmp_path)])
    assert result.exit_code == 1
    assert "Sluice does not work here" in result.output


def test_each_fact_about_the_node_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node has no sandbox and a broken container engine."""
    engine = tmp_path / "bin" / "docker"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\necho the daemon is down >&2\nexit 1\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(engine.parent))
    findings = list(examine(tmp_path))
    assert [one.subject for one in findings if "no bubblewrap" in one.found] == ["sandbox"]
    assert [one for one in findings if "daemon is down" in one.found] == [
        MachineFinding(
            "containers",
            Severity.NOTE,
            "Docker is installed, but does not work here: the daemon is down",
            "steps in containers (DockerRequirement) wait for another node",
        )
    ]
    assert [one.found for one in findings if "memory.limits" in one.found] == []


def test_only_missing_programs_are_to_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    unused = get_finding(tmp_path, "containers")
    assert "SLUICE_PILOT_CONTAINERS" in unused.follows
    assert "install" not in unused.follows
    bubblewrap = tmp_path / "bin" / "bwrap"
    bubblewrap.parent.mkdir()
    bubblewrap.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    bubblewrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(bubblewrap.parent), prepend=os.pathsep)
    pilot = get_finding(tmp_path, "pilot")
    assert pilot.found.startswith("the sandbox does not work")
    assert "install" not in pilot.follows


def test_own_running_system_is_not_another_program_on_the_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Home(tmp_path / "home")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("SLUICE_PORT", str(port))
        own.open()
        try:
            starting = get_finding(own.root, "port")
            own.announce(f"http://127.0.0.1:{port}")
            running = get_finding(own.root, "port")
            stranger = get_finding(tmp_path / "other", "port")
        finally:
            own.close()
    process = f"(process {os.getpid()})"
    assert (starting.severity, starting.found) == (
        Severity.OK,
        f"this home's own system is starting {process}",
    )
    assert (running.severity, running.found) == (
        Severity.OK,
        f"this home's own system runs at http://127.0.0.1:{port} {process}",
    )
    assert (stranger.severity, stranger.found) == (Severity.NOTE, f"{port} is in use")


def test_piped_report_has_one_line_for_each_finding(tmp_path: Path) -> None:
    done = commands.run("sluice", "doctor", "--home", tmp_path)
    *lines, last = done.stdout.splitlines()
    assert last == "Sluice works here."
    assert lines[0].startswith("Python: ok - 3.")
    assert [line for line in lines if not re.match(r"[^:]+: (ok|note) - \S.*\S$", line)] == []
    assert [line for line in lines if "  " in line] == []
