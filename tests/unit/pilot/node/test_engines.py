"""Tests of how a pilot finds the container engines of its node."""

from pathlib import Path

import pytest

from pilot.node.engines import find_engines
from sluice.contracts.common.states import ContainerEngine
from tests.servers.podman import Podman


def test_podman_that_cannot_run_containers_is_not_found(
    podman: Podman,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``podman info`` succeeds all the same."""
    for name, value in podman.environment.items():
        monkeypatch.setenv(name, value)
    broken = tmp_path / "engine.conf"
    broken.write_text(
        Path(podman.environment["CONTAINERS_CONF"])
        .read_text()
        .replace("nproc=4096", "no-such-limit=4096")
    )
    assert [engine.limits_memory for engine in find_engines([ContainerEngine.PODMAN])] == [True]
    monkeypatch.setenv("CONTAINERS_CONF", str(broken))
    assert find_engines([ContainerEngine.PODMAN]) == []
    assert "no-such-limit" in capsys.readouterr().out


def write_program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_engine_is_found_if_its_command_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = tmp_path / "bin"
    write_program(
        programs,
        "docker",
        "echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.' >&2; exit 1",
    )
    write_program(programs, "podman", "echo '{}'")
    write_program(programs, "singularity", "echo 'apptainer version 1.3.4'")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    engines = find_engines(list(ContainerEngine))
    assert [(engine.kind, engine.version) for engine in engines] == [
        (ContainerEngine.APPTAINER, "apptainer version 1.3.4")
    ]
    output = capsys.readouterr().out
    assert "Cannot connect to the Docker daemon" in output
    assert "there is no udocker on this node's PATH" in output
    assert find_engines([]) == []
