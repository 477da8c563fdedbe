"""Start a slot with a real container engine (Podman) and an image that the tests build."""

from pathlib import Path
from typing import Any

import pytest

from pilot.node.engines import Engine, find_engines
from sluice.contracts.common.states import AttemptOutcome, ContainerEngine
from sluice.contracts.pilots.reports import AttemptReport
from tests.servers.podman import IMAGE, Podman
from tests.unit.pilot.builders import make_tool
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner


def start_slot(podman: Podman, engine: Engine | None, folder: Path) -> Runner:
    environment = {"PYTHONPATH": str(Path.cwd()), "SLUICE_SECRET": "hush", **podman.environment}
    settings = {
        "engine": engine,
        "images": str(folder / "images"),
        "sandbox": get_sandbox(),
        "gpus": {"GPU-a": "/dev/nvidia0", "GPU-b": "/dev/nvidia1"},
    }
    return Runner(folder / "pilot", environment=environment, settings=settings)


def make_shell_tool(
    script: str, *, image: str = IMAGE, kind: str = "requirements", **fields: Any
) -> dict[str, Any]:
    """Return a tool that runs a script in a container. ``$f`` is the path of its input."""
    docker = {"class": "DockerRequirement", "dockerPull": image}
    more = fields.pop("more", [])
    variable = {"class": "EnvVarRequirement", "envDef": {"f": "$(inputs.f.path)"}}
    return make_tool(
        ["/bin/sh", "-c"],
        arguments=[script.replace("$(", "\\$(")],
        **{"requirements": [variable, *more]}
        | {kind: [docker, *([variable, *more] if kind == "requirements" else [])]}
        | fields,
    )


def read_output(report: AttemptReport, number: int = 0) -> str:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[number].url.removeprefix("file://")).read_text()


def find_podman(podman: Podman) -> Engine:
    """Return the engine as a pilot on this node finds it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in podman.environment.items():
            patch.setenv(name, value)
        [engine] = find_engines([ContainerEngine.PODMAN])
    return engine
