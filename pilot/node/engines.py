"""Container engines of this node, found by calling them."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence

import structlog

from sluice.contracts.common.base import Contract
from sluice.contracts.common.states import ContainerEngine
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Variables by which engines find their daemon, images and settings. Tools never see them.
ENGINE_VARIABLES = (
    "APPTAINER_CACHEDIR",
    "APPTAINER_TMPDIR",
    "CONTAINERS_CONF",
    "CONTAINERS_REGISTRIES_CONF",
    "CONTAINERS_STORAGE_CONF",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "REGISTRY_AUTH_FILE",
    "SINGULARITY_CACHEDIR",
    "SINGULARITY_TMPDIR",
    "UDOCKER_DIR",
    "XDG_RUNTIME_DIR",
)

#: cwltool uses the old name, which Apptainer provides too.
_PROGRAMS = {ContainerEngine.APPTAINER: "singularity"}
_PATIENCE = 30.0
#: Exit status of an engine that created the container but did not find the program.
_NO_PROGRAM = 127

RUN_LABEL, SLOT_LABEL = "sluice.run", "sluice.slot"


class Engine(Contract):
    """A container engine.

    Attributes:
        program: Its path.
        limits_memory: Whether it can limit the memory of a container.
    """

    kind: ContainerEngine
    program: str
    version: str = ""
    limits_memory: bool = False

    @property
    def runs_outside(self) -> bool:
        """Return whether a daemon or monitor runs the containers outside the caller's process tree.

        Such containers have to be ended by name.
        """
        return self.kind in {ContainerEngine.DOCKER, ContainerEngine.PODMAN}


def engine_environment() -> dict[str, str]:
    """Return the environment of a process that calls an engine."""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", *ENGINE_VARIABLES)
    return {name: os.environ[name] for name in names if name in os.environ}


def find_engines(kinds: Sequence[ContainerEngine]) -> list[Engine]:
    """Return the engines of these kinds that work, in the given order.

    The reason why an engine does not work is logged.
    """
    engines = []
    for kind in kinds:
        name = _PROGRAMS.get(kind, kind.value)
        program = shutil.which(name)
        if program is None:
            log.info("engine.none", engine=kind, reason=f"there is no {name} on this node's PATH")
            continue
        try:
            engine = _PROBES[kind](program)
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            log.warning("engine.none", engine=kind, reason=_format_reason(error))
            continue
        log.info(
            "engine.found", engine=kind, version=engine.version, limits_memory=engine.limits_memory
        )
        engines.append(engine)
    return engines


def remove_containers(engine: Engine, label: str) -> None:
    """End and remove all containers with the label ``name=value``.

    Errors are logged.
    """
    if not engine.runs_outside:
        return
    try:
        containers = _read_output(
            engine.program, "ps", "--all", "--quiet", "--filter", f"label={label}"
        ).split()
        if containers:
            _read_output(engine.program, *build_removal_command(engine), *containers)
            log.info("containers.removed", label=label, containers=len(containers))
    except (OSError, subprocess.SubprocessError) as error:
        log.error("containers.not_removed", label=label, reason=_format_reason(error))


def build_removal_command(engine: Engine) -> list[str]:
    """Return the command that ends and removes containers at once, without their names."""
    return ["rm", "--force", *(["--time", "0"] if engine.kind is ContainerEngine.PODMAN else [])]


def _probe_docker(program: str) -> Engine:
    version = _read_output(program, "version", "--format", "{{.Server.Version}}")
    try:
        limits = _read_output(program, "info", "--format", "{{.MemoryLimit}}") == "true"
    except subprocess.SubprocessError:
        limits = False
    return Engine(
        kind=ContainerEngine.DOCKER, program=program, version=version, limits_memory=limits
    )


def _probe_podman(program: str) -> Engine:
    """Return Podman if it can run a container.

    Podman has no daemon to ask, so a container with an empty root folder is tried. Success is the
    exit status for a missing program.
    """
    info = json.loads(_read_output(program, "info", "--format", "json"))
    engine = Engine(
        kind=ContainerEngine.PODMAN,
        program=program,
        version=info["version"]["Version"],
        limits_memory=True,
    )
    with tempfile.TemporaryDirectory(prefix="sluice-") as empty:
        run = (program, "run", "--rm", "--net=none", "--log-driver=none")
        command = ("--rootfs", empty, "/nothing")
        if _run_command(*run, "--memory=64m", *command).returncode == _NO_PROGRAM:
            return engine
        result = _run_command(*run, *command)
    if result.returncode != _NO_PROGRAM:
        result.check_returncode()
        raise ValueError("it reports success for a program that does not exist")
    return engine.model_copy(update={"limits_memory": False})


def _probe_apptainer(program: str) -> Engine:
    return Engine(
        kind=ContainerEngine.APPTAINER, program=program, version=_read_output(program, "--version")
    )


def _probe_udocker(program: str) -> Engine:
    return Engine(
        kind=ContainerEngine.UDOCKER,
        program=program,
        version=_read_output(program, "--version").splitlines()[0],
    )


_PROBES: Mapping[ContainerEngine, Callable[[str], Engine]] = {
    ContainerEngine.DOCKER: _probe_docker,
    ContainerEngine.PODMAN: _probe_podman,
    ContainerEngine.APPTAINER: _probe_apptainer,
    ContainerEngine.UDOCKER: _probe_udocker,
}


def _read_output(*command: str) -> str:
    result = _run_command(*command)
    result.check_returncode()
    return result.stdout.strip()


def _run_command(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env=engine_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PATIENCE,
        check=False,
    )


def _format_reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        return (
            lines[-1].removeprefix("Error: ")[:300] if lines else f"exit status {error.returncode}"
        )
    return reason_of(error)[:300]
