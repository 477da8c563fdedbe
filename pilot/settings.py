"""A pilot's settings: ``SLUICE_PILOT_…`` in the environment; options of the command line come
first."""

import socket
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pilot.sandbox.added_paths import why_hidden
from pilot.sandbox.network import usable
from pilot.sandbox.sandbox import SandboxUse
from sluice.contracts.base import Name
from sluice.contracts.node_parts import ToldPart
from sluice.contracts.resources import Labels, NamedAmounts
from sluice.contracts.states import ContainerEngine
from sluice.contracts.wording import in_words, names_value, sentence_of
from sluice.visible_text import quoted


def _default_work_dir() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415 - a pilot that is told its folder does without

    return user_state_path("sluice", appauthor=False) / "pilot"


class PilotVariables(EnvSettingsSource):
    """The environment. What is no JSON where it should be is left as it is: so it is found wrong
    together with all else that is."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


class PilotSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="SLUICE_PILOT_", extra="ignore", frozen=True)

    #: Base URL of the WMS.
    wms_url: str = "http://127.0.0.1:8082"
    #: File with the token that it registers with, where the WMS wants to know who asks; read at
    #: each registration.
    token_file: Path | None = None
    #: Default: the name of the machine. One pilot of a name at a time on a node; a new start takes
    #: over what an earlier one left behind.
    name: Name = Field(default_factory=socket.gethostname)
    #: Most jobs run at the same time, each in a process of its own (slot). How many are, follows
    #: from what they need; slots are started when there is work for them, and those that had none
    #: for five minutes end. None: ten for each core, 16 at the least; or as many as there are
    #: slot_users, where tools run as these.
    slots: Annotated[int, Field(ge=1, le=4096)] | None = None
    #: Cores that its jobs may take together; None: all of the node. More than it has: that many
    #: jobs of one core share it.
    cores: Annotated[float, Field(gt=0)] | None = None
    #: Which of several pilots of its node this one is, such as `1/2` and `2/2`: so they share it.
    #: Each offers its part of the cores, the memory, the disk (where these are not told) and of the
    #: resources; GPUs, and whole ones of a resource, go to them in turn. None: all is this one's.
    part: ToldPart | None = None
    #: MiB of memory that they may ask for together; None: all of the node, or its part.
    memory: Annotated[int, Field(gt=0)] | None = None
    #: MiB of disk that jobs may have together which ask for some; None: what is free where they
    #: work when the pilot starts.
    disk: Annotated[int, Field(gt=0)] | None = None
    #: Resources that this node has so much of, for jobs that ask for them (sluice:resources), such
    #: as `{"licence": 4, "scanner": 1}`. Amounts may be fractions.
    resources: NamedAmounts = Field(default_factory=dict)
    #: What is to be known of this node for jobs that ask for certain nodes (sluice:nodes), such as
    #: `{"site": "prague"}`.
    labels: Labels = Field(default_factory=dict)
    #: Folder for jobs and unsent reports, the pilot's user's own, made where there is none;
    #: default: `~/.local/state/sluice/pilot` (in the user's folder for state). Best on the file
    #: system of the storages: outputs are then renamed, not copied.
    work_dir: Path = Field(default_factory=_default_work_dir)
    #: DEBUG, INFO, WARNING or ERROR.
    log_level: str = "INFO"
    #: Seconds that the WMS may hold back its answer while there is no work.
    lease_wait: Annotated[float, Field(ge=0, le=60)] = 20.0
    #: Seconds for running jobs to end after SIGTERM; None: as long as they take.
    drain_timeout: float | None = None
    #: Seconds to try to get the last reports through at the end; those left are sent by the next
    #: start.
    flush_timeout: float = 30.0
    #: Process of this node, by its id, that this pilot ends with, at once.
    end_with: int | None = None
    #: Seconds between SIGTERM and SIGKILL for a tool that is canceled or too slow.
    grace: float = 5.0
    #: A job may use this many times the memory that it asked for …
    memory_factor: float = 2.0
    #: … but always this much, MiB.
    memory_floor: int = 1024
    #: Bytes kept of each of a tool's two streams in its log; of more, half from the beginning and
    #: half from the end.
    log_limit: Annotated[int, Field(ge=4096)] = 8 * 1024 * 1024
    #: Seconds between two times that what a running tool has written is put beside its log, where
    #: it can be followed; each is a file of at most 180 kB, and only where there is more than
    #: before. 0: logs can be read when a job has ended.
    live_logs: Annotated[float, Field(ge=0)] = 3.0
    #: MiB that the files of a job's checkpoint (`sluice:checkpoint`) may have together; two of
    #: each attempt are kept beside its log. Larger ones are not kept, and the job's log says so. 0:
    #: none are.
    checkpoint_limit: Annotated[int, Field(ge=0)] = 1024
    #: MiB of files of assets (models, configurations) that are kept in the work folder, for all
    #: jobs of this node that need them; those used last are kept. 0: each slot brings its own.
    asset_cache: Annotated[int, Field(ge=0)] = 16384
    #: Seconds of work to have at hand when jobs are short.
    horizon: float = 0.75
    #: Variables of the environment, besides a few of the system's, that the processes of the slots
    #: need (drivers of storages). Tools never see any of them.
    worker_environment: list[str] = Field(default_factory=list)
    #: What may run containers on this node, the one used first; each is used where it works. None
    #: at all: `[]`.
    containers: list[ContainerEngine] = Field(default_factory=lambda: list(ContainerEngine))
    #: The sandbox (bubblewrap) for tools: each sees the system's files, its job's folders and
    #: inputs, and has no network. preferred: where it cannot be had, tools run as users of their
    #: own (see slot_users), or with the rights of the pilot's user, and their logs say so.
    #: required: where it cannot be had, the pilot does not start. off: none.
    sandbox: SandboxUse = "preferred"
    #: Users that tools run as, one for each slot and no fewer than there are cores, where the
    #: sandbox is preferred and cannot be had,
    #: and the pilot is root: names or numbers (which need no entry in /etc/passwd), such as
    #: `[61001, 61002]`. Each for one slot of one pilot of the node alone: all of its processes are
    #: ended after each job. It has to be able to get to the work folder.
    slot_users: list[Annotated[str, BeforeValidator(str)]] = Field(default_factory=list)
    #: Files and folders that all tools in the sandbox may read as well: where software of this node
    #: lies beside the system's. Each has to be there when the pilot starts, neither in the work
    #: folder, nor below /dev or /proc, and it must not be a folder of everybody's such as /tmp.
    sandbox_paths: list[Path] = Field(default_factory=list)
    #: Files and folders that no tool in the sandbox sees, wherever they lie: such as storages in a
    #: folder that is on the search path. The work folder and the token's file are always hidden.
    sandbox_hidden: list[Path] = Field(default_factory=list)
    #: Networks that tools in the sandbox reach which ask for one (NetworkAccess), beside the
    #: Internet: such as 192.168.4.0/24. The node's own loopback is never among them.
    sandbox_networks: Annotated[list[str], AfterValidator(usable)] = Field(default_factory=list)
    #: Processes and threads that a tool in the sandbox, or of a user of its own, may have at a
    #: time. (In the sandbox of a pilot that is root, where it may make control groups.)
    sandbox_processes: Annotated[int, Field(ge=64)] = 4096
    #: Files that each process of such a tool may have open.
    sandbox_open_files: Annotated[int, Field(ge=64)] = 16384
    #: The sandbox (bubblewrap) for the JavaScript of templates. preferred: where it cannot be had,
    #: node.js runs with the pilot's rights, restrained by its own means alone. required: where it
    #: cannot be had, jobs that need JavaScript fail.
    expressions: Literal["preferred", "required"] = "preferred"
    #: Seconds that one expression may take.
    expression_limit: Annotated[float, Field(gt=0)] = 20.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *others: PydanticBaseSettingsSource,
        **named: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """In place of pydantic's own (the others)."""
        return init_settings, PilotVariables(settings_cls)

    @property
    def hidden(self) -> list[Path]:
        """What tools in the sandbox do not see."""
        token = [] if self.token_file is None else [self.token_file]
        return [self.work_dir, *token, *self.sandbox_hidden]

    @field_validator("work_dir")
    @classmethod
    def _below_a_home_folder(cls, path: Path) -> Path:
        try:
            return path.expanduser()
        except RuntimeError as error:
            raise ValueError(
                f"{path}: the pilot's user has no home folder; give a work folder"
            ) from error

    @field_validator("sandbox_paths")
    @classmethod
    def _seen_by_tools(cls, paths: list[Path], known: ValidationInfo) -> list[Path]:
        """Where there is to be a sandbox: else nobody looks at them."""
        if known.data.get("sandbox") == "off" or "work_dir" not in known.data:
            return paths
        for path in paths:
            why = why_hidden(path, known.data["work_dir"])
            if why is not None:
                raise in_words(f"tools would not see {path}: {why}")
        return paths


def sentences_of(error: ValidationError, given: Collection[str] = ()) -> list[str]:
    """What is wrong with each setting, and its value. ``given``: names of those from the command
    line."""
    return [_sentence(wrong, given) for wrong in error.errors()]


def _sentence(wrong: ErrorDetails, given: Collection[str]) -> str:
    name, *place = wrong["loc"]
    setting = (
        f"--{name}".replace("_", "-") if name in given else f"SLUICE_PILOT_{str(name).upper()}"
    )
    if wrong["type"] == "list_type":
        return (
            f"{setting}: {quoted(wrong['input'])} is no list, which is written as JSON:"
            """ '["one", "two"]'"""
        )
    where = "".join(f", number {index + 1}" for index in place if isinstance(index, int))
    value = "" if names_value(wrong) else f", not {quoted(wrong['input'])}"
    return f"{setting}{where}: {sentence_of(wrong)}{value}"
