"""Tools in containers: their images brought to the node, their command lines made, and nothing of
them left behind."""

import fcntl
import hashlib
import itertools
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, assert_never, cast
from urllib.parse import unquote, urlsplit

import structlog
from cwltool.context import RuntimeContext
from pydantic import ValidationError

from pilot.node.engines import (
    RUN_LABEL,
    SLOT_LABEL,
    Engine,
    engine_environment,
    removal,
    remove_containers,
)
from pilot.runner.failures import AttemptError, StoppedError
from pilot.runner.programs.control import SlotControl
from pilot.runner.programs.ending import last_line
from pilot.runner.programs.orphans import children, kill_orphans
from pilot.runner.programs.program import Cut, Program, ProgramEnd, ProgramLimits, run_program
from sluice.contracts.plan import ContainerImage
from sluice.contracts.states import ContainerEngine, ErrorClass

log = structlog.get_logger(__name__)

#: The engine's own exit statuses: it failed; it could not start the container, or the program in
#: it.
_ENGINE_FAILED, _NOT_STARTED = 125, 126
#: The year of a time that is none.
_NEVER = "0001-"
#: Of a shell whose child was killed, as the kernel does where memory runs out.
_KILLED = 137
_PATIENCE = 60.0
#: Of the vendor's description of devices, which its container toolkit writes.
_PODMAN_GPUS = "--device=nvidia.com/gpu=all"


class Containers:
    """A slot's use of the node's engine. ``images``: folder for images and locks, that all pilots
    of the node share. ``spared``: children of the slot that belong to no job."""

    def __init__(
        self,
        engine: Engine,
        *,
        images: Path,
        run: str,
        control: SlotControl,
        spared: Callable[[], frozenset[int]],
    ) -> None:
        self.engine = engine
        self.spared = spared
        #: MiB that each of the containers started next may use; 0: as much as there is.
        self.memory = 0
        self.slot = f"{run}.{os.getpid()}"
        self._run = run
        self._images = images
        self._control = control
        self._numbers = itertools.count(1)
        self._known: dict[str, str] = {}

    def bring(self, image: ContainerImage) -> str:
        """Makes sure that the node has the image; gives what to call it by on a command line. One
        process of the node at a time pulls an image. Raises ``AttemptError``, ``StoppedError``."""
        known = self._known.get(image.name)
        if known is None:
            with self._alone(image.name):
                known = (
                    self._sif(image)
                    if self.engine.kind is ContainerEngine.APPTAINER
                    else self._pulled(image)
                )
            self._known[image.name] = known
        return known

    def forget(self) -> None:
        """What is thought to be on the node is looked for anew."""
        self._known.clear()

    def next_name(self) -> str:
        return f"sluice-{self.slot}-{next(self._numbers)}"

    def options(self) -> list[str]:
        """Of each ``run``, beyond those that cwltool gives."""
        if not self.engine.apart:
            return []
        memory = [f"--memory={self.memory}m"] if self.memory and self.engine.limits_memory else []
        labels = [f"--label={RUN_LABEL}={self._run}", f"--label={SLOT_LABEL}={self.slot}"]
        return ["--pull=never", *labels, *memory]

    def ran_out_of_memory(self, name: str) -> bool:
        """Did the container end because of its limit? Some engines say so of its first process
        alone."""
        done = self._call("container", "inspect", "--format", "{{.State.OOMKilled}}", name)
        return done.stdout.strip() == "true"

    def was_started(self, name: str) -> bool:
        done = self._call("container", "inspect", "--format", "{{.State.StartedAt}}", name)
        return done.returncode == 0 and not done.stdout.startswith(_NEVER)

    def remove(self, name: str | None) -> None:
        """Ends the container and removes it, all of this slot for None; fine where there is none."""
        if not self.engine.apart:
            return
        if name is None:
            remove_containers(self.engine, f"{SLOT_LABEL}={self.slot}")
            return
        try:
            self._call(*removal(self.engine), name)
        except AttemptError as error:
            log.error("container.not_removed", container=name, reason=error.message)

    def _pulled(self, image: ContainerImage) -> str:
        inspect = (
            ("inspect",) if self.engine.kind is ContainerEngine.UDOCKER else ("image", "inspect")
        )
        if self._call(*inspect, image.name).returncode == 0:
            return image.name
        if image.pull is None:
            sentence = (
                f"the image {image.name!r} is not on this node, and nothing says where it comes"
                " from (dockerPull)"
            )
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        self._fetch(image, "pull", image.pull)
        if image.name != image.pull and self._call(*inspect, image.name).returncode != 0:
            sentence = (
                f"the image {image.pull!r} was pulled, and there is still none called"
                f" {image.name!r} (dockerImageId)"
            )
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        return image.name

    def _sif(self, image: ContainerImage) -> str:
        path = self._images / f"{_digest(image.name)}.sif"
        if not path.exists():
            if image.pull is None:
                sentence = (
                    f"the image {image.name!r} cannot be had: nothing says where it comes from"
                    " (dockerPull)"
                )
                raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
            new = path.with_suffix(".new")
            self._fetch(image, "pull", "--force", str(new), f"docker://{image.pull}")
            new.rename(path)
        return str(path)

    def _fetch(self, image: ContainerImage, *command: str) -> None:
        """Told to stop, the pull is ended as a tool would be."""
        said = self._images / f"{_digest(image.name)}.{os.getpid()}.log"
        try:
            with said.open("w+b") as stream:
                program = Program(
                    arguments=[self.engine.program, *command],
                    environment=engine_environment(),
                    folder=str(self._images),
                    watched=[],
                    stdin=subprocess.DEVNULL,
                    stdout=stream.fileno(),
                    stderr=stream.fileno(),
                )
                ended = run_program(
                    program,
                    ProgramLimits(time=0, memory=0, disk=0, grace=1.0),
                    self._control,
                    known=self.spared,
                )
                why = last_line(stream.fileno()) or f"exit status {ended.exit_code}"
            if ended.cut is Cut.STOPPED:
                raise StoppedError
            if ended.exit_code != 0:
                sentence = (
                    f"the image {image.pull!r} could not be pulled with {self.engine.kind.label}:"
                    f" {why}"
                )
                raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        finally:
            said.unlink(missing_ok=True)

    def _call(self, *command: str) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(
                [self.engine.program, *command],
                env=engine_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            sentence = f"{self.engine.kind.label} does not answer on this node: {error}"
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence) from error

    @contextmanager
    def _alone(self, image: str) -> Iterator[None]:
        """Waits, unless told to stop, while another process of the node brings the same image."""
        self._images.mkdir(parents=True, exist_ok=True)
        lock = os.open(
            self._images / f"{_digest(image)}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            while not _locked(lock):
                if self._control.stopping():
                    raise StoppedError
                time.sleep(0.1)
            yield
        finally:
            os.close(lock)


@dataclass(slots=True)
class ContainerRun:
    """A job's use of containers. ``name``: of its only one; None: the job starts some itself.
    ``failed``: the engine did, not the tool; known once it was judged."""

    containers: Containers
    name: str | None
    failed: bool = False

    @property
    def own_limit(self) -> bool:
        """The engine looks after the memory, and the processes to look at are not below ours."""
        return self.name is not None and self.containers.engine.apart

    def known(self) -> frozenset[int]:
        """What is not to be killed as left behind by the job: the engine's own helpers go with the
        container."""
        return frozenset(children()) if self.containers.engine.apart else self.containers.spared()

    def judged(self, ended: ProgramEnd) -> ProgramEnd:
        """What the engine knows of the end. Raises ``AttemptError`` where it does not answer."""
        if not self.own_limit:
            return ended
        code = ended.exit_code
        self.failed = code == _ENGINE_FAILED or (
            code == _NOT_STARTED and not self.containers.was_started(self.name or "")
        )
        # What was measured is the engine's client, not the tool.
        ended = replace(ended, memory=None, cpu=None)
        if ended.cut is None and self._ran_out_of_memory(ended.exit_code):
            return replace(ended, cut=Cut.MEMORY, memory=float(self.containers.memory))
        return ended

    def _ran_out_of_memory(self, exit_code: int) -> bool:
        limited = self.containers.memory > 0 and self.containers.engine.limits_memory
        if not limited or exit_code == 0 or self.name is None:
            return False
        return exit_code == _KILLED or self.containers.ran_out_of_memory(self.name)

    def end(self) -> None:
        """Nothing of it is left."""
        self.containers.remove(self.name)
        kill_orphans(self.containers.spared())


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
    if (
        engine.kind is ContainerEngine.PODMAN
    ):  # which has the option of this name since release 5 only
        runtime = [_PODMAN_GPUS if part.startswith("--gpus=") else part for part in runtime]
    if engine.apart and not any(part.startswith("--log-driver") for part in runtime):
        runtime.append("--log-driver=none")
    return [*runtime, *options], environment


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


def paths_in(value: Any) -> Iterator[str]:
    """Of all files and directories in a job order."""
    if isinstance(value, Mapping):
        path = value.get("path") or unquote(urlsplit(str(value.get("location", ""))).path)
        if value.get("class") in {"File", "Directory"} and path.startswith("/"):
            yield path
        for one in value.values():
            yield from paths_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from paths_in(one)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _digest(image: str) -> str:
    return hashlib.sha256(image.encode()).hexdigest()[:32]
