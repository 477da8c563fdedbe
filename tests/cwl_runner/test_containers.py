"""`sluice cwl-runner` runs a tool with a required container on a node with Podman."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.systems import run_live_system
from tests.servers.podman import IMAGE, start_podman

pytestmark = [
    pytest.mark.xdist_group("cwl-runner"),
    pytest.mark.long(
        "tests/unit/pilot/runner/containers/test_containers.py runs tools in containers"
    ),
]

TOOL = {
    "cwlVersion": "v1.2",
    "class": "CommandLineTool",
    "requirements": {"DockerRequirement": {"dockerImageId": IMAGE, "dockerPull": IMAGE}},
    "baseCommand": ["cat", "/etc/mark"],
    "inputs": {"text": {"type": "File", "inputBinding": {}}},
    "stdout": "seen.txt",
    "outputs": {"seen": "stdout"},
}


@pytest.fixture
def url() -> Iterator[str]:
    podman = start_podman()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in podman.environment.items():
            patch.setenv(name, value)
        patch.setenv("SLUICE_PILOT_CONTAINERS", '["podman"]')
        with run_live_system() as system:
            yield system.url
    assert podman.containers() == []
    podman.stop()


def test_tool_runs_in_its_required_container(url: str, tmp_path: Path) -> None:
    (tmp_path / "tool.cwl").write_text(json.dumps(TOOL))
    (tmp_path / "text.txt").write_text("brought in\n")
    runner = str(Path(sys.executable).with_name("sluice-cwl-runner"))
    command = [runner, "--url", url, "--quiet", "tool.cwl", "--text", "text.txt"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seen.txt").read_text() == "inside the image\nbrought in\n"
