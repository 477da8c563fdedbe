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

    ``program`` is its path. ``limits_memory`` says whether it can limit the memory of a container.
    """

    kind: ContainerEngine
    program: str
    version: str = ""
    limits_memory: bool = False

    @property
    def apart(self) -> bool:
        """Return whether a daemon or monitor runs the containers outside the caller's process tree.

        Such containers have to be ended by name.
        """
        return self.kind in {ContainerEngine.DOCKER, ContainerEngine.PODMAN}


def engine_environment() -> dict[str, str]:
    """Return the environment of a process that calls an engine."""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", *ENGINE_VARIABLES)
    return {name: os.environ[name] for name in names if name in os.environ}


def find_engines(wanted: Sequence[ContainerEngine]) -> list[Engine]:
    """Return the wanted engines that work, in the given order.

    The reason why an engine does not work is logged.
    """
    found = []
    for kind in wanted:
        name = _PROGRAMS.get(kind, kind.value)
        program = shutil.which(name)
        if program is None:
            log.info("engine.none", engine=kind, reason=f"there is no {name} on this node's PATH")
            continue
        try:
            engine = _ASKED[kind](program)
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            log.warning("engine.none", engine=kind, reason=_reason(error))
            continue
        log.info(
            "engine.found", engine=kind, version=engine.version, limits_memory=engine.limits_memory
        )
        found.append(engine)
    return found


def remove_containers(engine: Engine, label: str) -> None:
    """End and remove all containers with the label ``name=value``.

    Errors are logged.
    """
    if not engine.apart:
        return
    try:
        found = _said(
            engine.program, "ps", "--all", "--quiet", "--filter", f"label={label}"
        ).split()
        if found:
            _said(engine.program, *removal(engine), *found)
            log.info("containers.removed", label=label, containers=len(found))
    except (OSError, subprocess.SubprocessError) as error:
        log.error("containers.not_removed", label=label, reason=_reason(error))


def removal(engine: Engine) -> list[str]:
    """Return the command that ends and removes containers at once, without their names."""
    return ["rm", "--force", *(["--time", "0"] if engine.kind is ContainerEngine.PODMAN else [])]


def _docker(program: str) -> Engine:
    version = _said(program, "version", "--format", "{{.Server.Version}}")
    try:
        limits = _said(program, "info", "--format", "{{.MemoryLimit}}") == "true"
    except subprocess.SubprocessError:
        limits = False
    return Engine(
        kind=ContainerEngine.DOCKER, program=program, version=version, limits_memory=limits
    )


def _podman(program: str) -> Engine:
    """Return Podman if it can run a container.

    Podman has no daemon to ask, so a container with an empty root folder is tried. Success is the
    exit status for a missing program.
    """
    info = json.loads(_said(program, "info", "--format", "json"))
    engine = Engine(
        kind=ContainerEngine.PODMAN,
        program=program,
        version=info["version"]["Version"],
        limits_memory=True,
    )
    with tempfile.TemporaryDirectory(prefix="sluice-") as empty:
        run = (program, "run", "--rm", "--net=none", "--log-driver=none")
        nothing = ("--rootfs", empty, "/nothing")
        if _call(*run, "--memory=64m", *nothing).returncode == _NO_PROGRAM:
            return engine
        tried = _call(*run, *nothing)
    if tried.returncode != _NO_PROGRAM:
        tried.check_returncode()
        raise ValueError("it reports success for a program that does not exist")
    return engine.model_copy(update={"limits_memory": False})


def _apptainer(program: str) -> Engine:
    return Engine(
        kind=ContainerEngine.APPTAINER, program=program, version=_said(program, "--version")
    )


def _udocker(program: str) -> Engine:
    return Engine(
        kind=ContainerEngine.UDOCKER,
        program=program,
        version=_said(program, "--version").splitlines()[0],
    )


_ASKED: Mapping[ContainerEngine, Callable[[str], Engine]] = {
    ContainerEngine.DOCKER: _docker,
    ContainerEngine.PODMAN: _podman,
    ContainerEngine.APPTAINER: _apptainer,
    ContainerEngine.UDOCKER: _udocker,
}


def _said(*command: str) -> str:
    done = _call(*command)
    done.check_returncode()
    return done.stdout.strip()


def _call(*command: str) -> "subprocess.CompletedProcess[str]":
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


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or error.stdout or "").strip().splitlines()
        return said[-1].removeprefix("Error: ")[:300] if said else f"exit status {error.returncode}"
    return reason_of(error)[:300]
