"""How cwltool is told to use containers, and what is added to the commands that it makes."""

import os
from collections.abc import Callable, Sequence
from typing import Any, assert_never, cast

from cwltool.context import RuntimeContext
from cwltool.secrets import SecretStore
from pydantic import ValidationError

from pilot.node.engines import Engine, engine_environment
from pilot.runner.failures import AttemptError
from pilot.sandbox.sandbox import Sandbox
from sluice.contracts.needs import ContainerImage
from sluice.contracts.states import ContainerEngine, ErrorClass

#: Of the vendor's description of devices, which its container toolkit writes.
_PODMAN_GPU = "--device=nvidia.com/gpu="


def walls(engine: Engine, sandbox: Sandbox) -> list[str]:
    """What holds in the node's sandbox for tools, as options of the engine: no rights, no way to
    gain any, and so many processes."""
    if not engine.apart:
        return []
    found = ["--cap-drop=ALL", "--security-opt=no-new-privileges"]
    # Without control groups it can limit neither memory nor processes.
    if engine.limits_memory:
        found.append(f"--pids-limit={sandbox.processes}")
    return found


def flags(engine: Engine) -> dict[str, Any]:
    """Of a RuntimeContext: which of its kinds of container cwltool is to use."""
    found: dict[str, Any] = {"use_container": True, "rm_container": False, "pull_image": False}
    match engine.kind:
        case ContainerEngine.PODMAN:
            found["podman"] = True
        case ContainerEngine.APPTAINER:
            found["singularity"] = True
        case ContainerEngine.UDOCKER:
            found["user_space_docker_cmd"] = engine.program
        case ContainerEngine.DOCKER:
            pass  # cwltool's own
        case _:
            assert_never(engine.kind)
    return found


def gpu_options(engine: ContainerEngine, gpus: Sequence[str]) -> list[str]:
    """For a container that is to have these of the node's GPUs, by uuid."""
    if not gpus:
        return []
    if engine is ContainerEngine.PODMAN:  # it has the other option since release 5 only
        return [f"{_PODMAN_GPU}{uuid}" for uuid in gpus]
    return [f'--gpus="device={",".join(gpus)}"']  # in quotes, as the value is a list itself


def runtime_of(
    create: Callable[[dict[str, str], RuntimeContext], Any],
    context: RuntimeContext,
    engine: Engine,
    options: list[str],
) -> tuple[list[str], dict[str, str]]:
    """The command that runs something in a job's container, up to the image, and its environment.
    ``create``: cwltool's, of the job."""
    environment = engine_environment()
    own = context.copy()
    if os.geteuid() == 0:  # Podman maps the user of those without rights only
        own.podman = False
    runtime = cast(list[str], create(environment, own)[0])
    if engine.kind is ContainerEngine.UDOCKER and os.geteuid() == 0:
        runtime.insert(1, "--allow-root")
    # cwltool's: any, so many of them.
    runtime = [part for part in runtime if not part.startswith("--gpus=")]
    runtime = _without_secrets(runtime, environment, engine, context.secret_store)
    if engine.apart and not any(part.startswith("--log-driver") for part in runtime):
        runtime.append("--log-driver=none")
    return [*runtime, *options], environment


def _without_secrets(
    runtime: list[str], environment: dict[str, str], engine: Engine, secrets: SecretStore | None
) -> list[str]:
    """Variables whose values have secrets in them are named on the engine's command line, which all
    can read on the node, and are in its own environment. Raises ``AttemptError``."""
    found = []
    for part in runtime:
        name, _, value = part.removeprefix("--env=").partition("=")
        if secrets is None or not part.startswith("--env=") or not secrets.has_secret(value):
            found.append(part)
            continue
        if engine.kind is ContainerEngine.UDOCKER:
            raise AttemptError(
                ErrorClass.INTERNAL,
                f"the variable {name} has a secret in it, and udocker, the engine of this node, is"
                " told variables on its command line, which all can read: give the tool a file"
                " (InitialWorkDirRequirement), or run a pilot with another engine",
            )
        if name in environment:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED,
                f"the variable {name} has a secret in it, and the engine of the container has one"
                " of that name itself: give it another name",
            )
        environment[name] = value
        found.append(f"--env={name}")
    return found


def tool_image(tool: Any, *, able: bool) -> ContainerImage | None:
    """The image that a tool names; None where it names none, or one that is a hint and cannot be
    used. ``able``: there is an engine. Raises ``AttemptError`` where the tool requires what cannot
    be."""
    asked, required = tool.get_requirement("DockerRequirement")
    if asked is None:
        return None
    if required and not able:
        raise AttemptError(
            ErrorClass.INTERNAL,
            "the tool requires a container, and this pilot's node has no engine to run it",
        )
    pull = asked.get("dockerPull")
    try:
        return ContainerImage(name=asked.get("dockerImageId") or pull, pull=pull)
    except ValidationError as error:
        if not required:
            return None
        raise AttemptError(
            ErrorClass.TOOL_REFUSED, "the tool's container names no image that can be used"
        ) from error
