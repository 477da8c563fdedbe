"""Findings of `sluice doctor` about a machine."""

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.cli.commands.system import doctor
from sluice.cli.commands.system.doctor import MachineFinding, Severity, examine
from tests.servers import commands


def finding_about(home: Path, subject: str) -> MachineFinding:
    return next(finding for finding in examine(home) if finding.subject == subject)


def test_version_is_shown() -> None:
    said = CliRunner().invoke(command_line(), ["--version"])
    assert said.exit_code == 0
    assert said.output.startswith("sluice 0.")


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
    preferred = finding_about(tmp_path, "sandbox")
    assert preferred.severity is Severity.NOTE
    assert "no bubblewrap" in preferred.found
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX", "required")
    assert finding_about(tmp_path, "sandbox").severity is Severity.ERROR


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
    told = {finding.subject: finding for finding in findings}
    entries = [finding.found for finding in findings if finding.subject == "PATH"]
    assert ["'bin'" in entries[0], "''" in entries[1], len(entries)] == [True, True, 2]
    assert told["locale"].found == "xx_XX.UTF-8 is not installed"
    assert "socksio" in told["https_proxy"].follows
    assert "hidden" not in told["https_proxy"].found
    assert "is in use" in told["port"].found


def test_full_disk_is_an_error_and_the_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_LEAST_DISK", 2**62)
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    said = CliRunner().invoke(command_line("doctor"), ["doctor", "--home", str(tmp_path)])
    assert said.exit_code == 1
    assert "Sluice does not work here" in said.output


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
    assert [one.subject for one in findings if "daemon is down" in one.found] == ["containers"]
    assert [one.found for one in findings if "memory.limits" in one.found] == []
