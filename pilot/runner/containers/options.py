"""Options that make cwltool use containers, and options added to its commands."""

import os
from collections.abc import Callable, Sequence
from typing import Any, assert_never, cast

from cwltool.context import RuntimeContext
from cwltool.secrets import SecretStore
from pydantic import ValidationError

from pilot.isolation.sandbox.sandbox import Sandbox
from pilot.node.engines import Engine, engine_environment
from pilot.runner.failures import AttemptError
from sluice.contracts.common.states import ContainerEngine, ErrorClass
from sluice.contracts.jobs.needs import ContainerImage

#: Device name in the Container Device Interface, whose files NVIDIA's container toolkit writes.
_PODMAN_GPU = "--device=nvidia.com/gpu="


def isolation_options(engine: Engine, sandbox: Sandbox) -> list[str]:
    """Return engine options that isolate a container like the node's sandbox.

    A container has no capabilities, cannot gain any, and has a limited number of processes.
    """
    if not engine.runs_outside:
        return []
    options = ["--cap-drop=ALL", "--security-opt=no-new-privileges"]
    # Without control groups, the engine can limit neither memory nor processes.
    if engine.limits_memory:
        options.append(f"--pids-limit={sandbox.processes}")
    return options


def runtime_options(engine: Engine) -> dict[str, Any]:
    """Return the options of cwltool's RuntimeContext that select the container engine."""
    options: dict[str, Any] = {"use_container": True, "rm_container": False, "pull_image": False}
    match engine.kind:
        case ContainerEngine.PODMAN:
            options["podman"] = True
        case ContainerEngine.APPTAINER:
            options["singularity"] = True
        case ContainerEngine.UDOCKER:
            options["user_space_docker_cmd"] = engine.program
        case ContainerEngine.DOCKER:
            pass  # cwltool's default
        case _:
            assert_never(engine.kind)
    return options


def gpu_options(engine: ContainerEngine, gpus: Sequence[str]) -> list[str]:
    """Return the engine options that give a container these GPUs, by uuid."""
    if not gpus:
        return []
    if engine is ContainerEngine.PODMAN:  # It has --gpus since release 5 only.
        return [f"{_PODMAN_GPU}{uuid}" for uuid in gpus]
    return [f'--gpus="device={",".join(gpus)}"']  # quotes, as the engine parses CSV


def build_engine_command(
    create: Callable[[dict[str, str], RuntimeContext], Any],
    context: RuntimeContext,
    engine: Engine,
    options: list[str],
) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs a job's container, up to the image, and its environment.

    ``create`` is the function of cwltool's job that creates the command.
    """
    environment = engine_environment()
    own_context = context.copy()
    if os.geteuid() == 0:  # Podman maps the user only if it is rootless.
        own_context.podman = False
    runtime = cast(list[str], create(environment, own_context)[0])
    if engine.kind is ContainerEngine.UDOCKER and os.geteuid() == 0:
        runtime.insert(1, "--allow-root")
    # cwltool's own option names a number of GPUs and not which.
    runtime = [part for part in runtime if not part.startswith("--gpus=")]
    runtime = _move_secrets(runtime, environment, engine, context.secret_store)
    if engine.runs_outside and not any(part.startswith("--log-driver") for part in runtime):
        runtime.append("--log-driver=none")
    return [*runtime, *options], environment


def _move_secrets(
    runtime: list[str], environment: dict[str, str], engine: Engine, secrets: SecretStore | None
) -> list[str]:
    """Move variables with secrets from the command line to the engine's environment.

    Everybody on the node can read the command line.

    Raises:
        AttemptError: The engine cannot pass the variable, or has a variable of that name.
    """
    arguments = []
    for part in runtime:
        name, _, value = part.removeprefix("--env=").partition("=")
        if secrets is None or not part.startswith("--env=") or not secrets.has_secret(value):
            arguments.append(part)
            continue
        if engine.kind is ContainerEngine.UDOCKER:
            raise AttemptError(
                ErrorClass.INTERNAL,
                f"the variable {name} contains a secret, but udocker, the engine of this node, gets"
                " variables on its command line, which everyone can read: give the tool a file"
                " (InitialWorkDirRequirement), or run a pilot with another engine",
            )
        if name in environment:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED,
                f"the variable {name} contains a secret, but the container engine uses a variable"
                " of this name itself: give it another name",
            )
        environment[name] = value
        arguments.append(f"--env={name}")
    return arguments


def find_image(tool: Any, *, has_engine: bool) -> ContainerImage | None:
    """Return the image that a tool names, or None.

    An unusable image in a hint counts as none. ``has_engine`` says whether there is an engine.

    Raises:
        AttemptError: The tool requires a container that is not possible here.
    """
    requirement, required = tool.get_requirement("DockerRequirement")
    if requirement is None:
        return None
    if required and not has_engine:
        raise AttemptError(
            ErrorClass.INTERNAL,
            "the tool requires a container, and this pilot's node has no engine to run it",
        )
    pull = requirement.get("dockerPull")
    try:
        return ContainerImage(name=requirement.get("dockerImageId") or pull, pull=pull)
    except ValidationError as error:
        if not required:
            return None
        raise AttemptError(
            ErrorClass.TOOL_REFUSED, "the tool's container names no image that can be used"
        ) from error
