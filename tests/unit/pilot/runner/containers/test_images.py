"""Tests of the images of containers in a real slot process: images are pulled once, and missing
images are named."""

from dataclasses import replace
from pathlib import Path

from pilot.node.engines import Engine
from sluice.contracts.common.states import ErrorClass
from tests.servers.image_registry import ImageRegistry
from tests.servers.podman import IMAGE, Podman
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_job, make_task, write_input
from tests.unit.pilot.runner.containers.podman_slot import (
    make_shell_tool,
    read_output,
    start_slot,
)
from tests.unit.pilot.slot_runner import Runner


def test_missing_image_fails_the_job_with_a_message(runner: Runner, root: Path) -> None:
    missing_image = "localhost:1/lab/none:1"
    file = write_input(root / "in" / "a.dat")
    error_class, message = get_error(
        run(runner, make_task(root, make_shell_tool("true", image=missing_image)), [file])
    )
    assert error_class is ErrorClass.STAGE_IN_FAILED
    assert message.startswith(f"the image '{missing_image}' could not be pulled with Podman: ")
    local = make_shell_tool("true")
    local["requirements"][0] = {"class": "DockerRequirement", "dockerImageId": "localhost/none:1"}
    error_class, message = get_error(
        run(runner, make_task(root, local), [write_input(root / "in" / "b.dat")])
    )
    sentence = (
        "the image 'localhost/none:1' is not on this node, and the tool names no source for it"
        " (dockerPull)"
    )
    assert (error_class, message) == (ErrorClass.STAGE_IN_FAILED, sentence)


def test_image_is_pulled_once_for_the_node(
    podman: Podman, engine: Engine, root: Path, tmp_path: Path
) -> None:
    podman.run("save", "--format", "docker-dir", "--output", str(tmp_path / "image"), IMAGE)
    registry = ImageRegistry(tmp_path / "image")
    registry.start()
    podman.trust(registry.name)
    # Without this image, all layers have to be pulled.
    podman.run("rmi", "--force", IMAGE)
    runners = [start_slot(podman, engine, tmp_path)]
    try:
        runners.append(replace(runners[0], folder=tmp_path / "second"))
        prepared = make_task(
            root, make_shell_tool("cat /etc/mark", image=f"{registry.name}/lab/tiny:1")
        )
        for number, runner in enumerate(runners):
            runner.submit(
                prepared,
                make_job(
                    prepared,
                    [write_input(root / "in" / f"{number}.dat")],
                    job_id=6000 + number,
                    seq=number,
                ),
            )
        assert [read_output(runner.wait_for_end().report) for runner in runners] == [
            "inside the image\n"
        ] * 2
        assert len(registry.pulled) == len(set(registry.pulled))
    finally:
        for runner in runners:
            runner.close()
        registry.stop()
        podman.run("tag", f"{registry.name}/lab/tiny:1", IMAGE)
