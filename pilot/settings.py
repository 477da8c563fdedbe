"""Settings of a pilot: variables ``SLUICE_PILOT_…``, overridden by command line options."""

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

from pilot.isolation.sandbox.added_paths import why_hidden
from pilot.isolation.sandbox.network import check_networks
from pilot.isolation.sandbox.sandbox import SandboxUse
from sluice.contracts.common.base import Name
from sluice.contracts.common.states import ContainerEngine
from sluice.contracts.common.wording import in_words, names_value, validation_sentence
from sluice.contracts.jobs.resources import Labels, NamedAmounts
from sluice.contracts.pilots.node_parts import ValidPart
from sluice.text.visible_text import quoted


def _default_work_dir() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415 - a pilot that is told its folder does without

    return user_state_path("sluice", appauthor=False) / "pilot"


class PilotVariables(EnvSettingsSource):
    """Environment variables as a source of settings.

    Invalid JSON is passed on unchanged, so that it is reported together with other errors.
    """

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Decode a JSON value, or return it unchanged if it is no JSON."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


class PilotSettings(BaseSettings):
    """Settings of a pilot."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_PILOT_", extra="ignore", frozen=True)

    #: Base URL of the WMS.
    wms_url: str = "http://127.0.0.1:8082"
    #: File with the token for registration, if the WMS requires authentication. It is read at each
    #: registration.
    token_file: Path | None = None
    #: Name of the pilot. Default: the name of the machine. Only one pilot of a name runs on a node
    #: at a time. A new run takes over what an earlier run left.
    name: Name = Field(default_factory=socket.gethostname)
    #: Maximum number of slots. A slot is a process that runs one job at a time. Slots are started
    #: when there is work for them, and end after five minutes without a job. Defaults to ten for
    #: each core, at least 16, or to the number of slot_users if tools run as these users.
    slots: Annotated[int, Field(ge=1, le=4096)] | None = None
    #: Cores that all jobs may use together. Defaults to all cores of the node. A value above the
    #: number of cores lets that many jobs of one core share them.
    cores: Annotated[float, Field(gt=0)] | None = None
    #: Part of the node for this pilot, such as `1/2` and `2/2` for two pilots. Each pilot offers
    #: its part of the cores, memory and disk, unless they are set here, and of the resources. GPUs
    #: and whole units of a resource are distributed in turn. Defaults to the whole node.
    part: ValidPart | None = None
    #: MiB of memory that all jobs may request together. Defaults to all memory of the node or its
    #: part.
    memory: Annotated[int, Field(gt=0)] | None = None
    #: MiB of disk that all jobs may request together. Defaults to the free space of the work folder
    #: when the pilot starts.
    disk: Annotated[int, Field(gt=0)] | None = None
    #: Amounts of named resources of this node for jobs that request them (sluice:resources), such
    #: as `{"licence": 4, "scanner": 1}`. Amounts may be fractions.
    resources: NamedAmounts = Field(default_factory=dict)
    #: Labels of this node for jobs that require certain nodes (sluice:nodes), such as `{"site":
    #: "prague"}`.
    labels: Labels = Field(default_factory=dict)
    #: Folder for jobs and unsent reports. It must belong to the pilot's user and is created if
    #: missing. Default: `~/.local/state/sluice/pilot` (in the user's folder for state). On the file
    #: system of the storages, outputs are renamed and not copied.
    work_dir: Path = Field(default_factory=_default_work_dir)
    #: DEBUG, INFO, WARNING or ERROR.
    log_level: str = "INFO"
    #: Seconds that the WMS may hold a request while there is no work.
    lease_wait: Annotated[float, Field(ge=0, le=60)] = 20.0
    #: Seconds for running jobs to end after SIGTERM. By default, there is no limit.
    drain_timeout: float | None = None
    #: Seconds for sending the last reports at the end. The next run sends those that remain.
    flush_timeout: float = 30.0
    #: Id of a process of this node. The pilot ends at once when this process ends.
    end_with: int | None = None
    #: Seconds between SIGTERM and SIGKILL for a tool that is canceled or exceeds its time limit.
    grace: float = 5.0
    #: A job may use its requested memory times this factor, or memory_floor if that is more.
    memory_factor: float = 2.0
    #: MiB of memory that every job with a memory request may use.
    memory_floor: int = 1024
    #: Bytes kept of each of a tool's two streams in its log. Of longer streams, half is kept from
    #: the start and half from the end.
    log_limit: Annotated[int, Field(ge=4096)] = 8 * 1024 * 1024
    #: Seconds between two live logs of a running tool, which people can follow. A live log is a
    #: file of at most 180 kB and is written only if there is new output. 0: logs are available
    #: after the end of a job.
    live_logs: Annotated[float, Field(ge=0)] = 3.0
    #: Maximum MiB of the files of a job's checkpoint (`sluice:checkpoint`). Two checkpoints of each
    #: attempt are kept beside its log. Larger ones are not kept, and the job's log says so. 0: no
    #: checkpoints.
    checkpoint_limit: Annotated[int, Field(ge=0)] = 1024
    #: MiB of asset files (models, configurations) in the work folder, shared by all jobs of this
    #: node. The least recently used files are evicted. 0: each slot fetches its own files.
    asset_cache: Annotated[int, Field(ge=0)] = 16384
    #: Seconds of work that the pilot holds ahead when jobs are short.
    horizon: float = 0.75
    #: Further environment variables for slot processes, such as those of storage drivers. Tools
    #: never see them.
    worker_environment: list[str] = Field(default_factory=list)
    #: Container engines that the pilot may use. The first engine that works on the node is used.
    #: `[]`: none.
    containers: list[ContainerEngine] = Field(default_factory=lambda: list(ContainerEngine))
    #: The sandbox (bubblewrap) for tools. Each tool sees the system's files and its job's folders
    #: and inputs, and has no network. preferred: without a sandbox, tools run as slot_users or with
    #: the rights of the pilot's user, and their logs say so. required: without a sandbox, the pilot
    #: does not start. off: no sandbox.
    sandbox: SandboxUse = "preferred"
    #: Users for tools, one for each slot and at least one for each core. They are used if the
    #: sandbox is preferred but not available, and the pilot runs as root. Values are names, or uids
    #: without an entry in /etc/passwd, such as `[61001, 61002]`. Each user may serve only one slot
    #: of one pilot on the node, as all its processes are ended after each job. It must be able to
    #: reach the work folder.
    slot_users: list[Annotated[str, BeforeValidator(str)]] = Field(default_factory=list)
    #: Further files and folders that all tools in the sandbox may read, such as software outside
    #: the system's folders. They must exist when the pilot starts. They may not be in the work
    #: folder, in /dev or /proc, or be a shared folder such as /tmp.
    sandbox_paths: list[Path] = Field(default_factory=list)
    #: Files and folders that no tool in the sandbox sees, such as storages in a folder of the
    #: search path. The work folder and the token file are always hidden.
    sandbox_hidden: list[Path] = Field(default_factory=list)
    #: Networks besides the Internet for tools in the sandbox that ask for a network
    #: (NetworkAccess), such as 192.168.4.0/24. The node's loopback is never included.
    sandbox_networks: Annotated[list[str], AfterValidator(check_networks)] = Field(
        default_factory=list
    )
    #: Maximum number of processes and threads of a tool in the sandbox or of a user of a slot. In
    #: the sandbox of a pilot that runs as root, it needs control groups.
    sandbox_processes: Annotated[int, Field(ge=64)] = 4096
    #: Maximum number of open files of each process of such a tool.
    sandbox_open_files: Annotated[int, Field(ge=64)] = 16384
    #: The sandbox (bubblewrap) for JavaScript of templates. preferred: without a sandbox, node.js
    #: runs with the pilot's rights and only its own restrictions. required: without a sandbox, jobs
    #: that need JavaScript fail.
    expressions: Literal["preferred", "required"] = "preferred"
    #: Time limit of one expression in seconds.
    expression_limit: Annotated[float, Field(gt=0)] = 20.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *sources: PydanticBaseSettingsSource,
        **named_sources: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use the command line and ``PilotVariables`` instead of pydantic's sources."""
        return init_settings, PilotVariables(settings_cls)

    @property
    def hidden(self) -> list[Path]:
        """Return the paths that tools in the sandbox do not see."""
        token = [] if self.token_file is None else [self.token_file]
        return [self.work_dir, *token, *self.sandbox_hidden]

    @field_validator("work_dir")
    @classmethod
    def _expand_home_folder(cls, path: Path) -> Path:
        try:
            return path.expanduser()
        except RuntimeError as error:
            raise ValueError(
                f"{path}: the pilot's user has no home folder; give a work folder"
            ) from error

    @field_validator("sandbox_paths")
    @classmethod
    def _check_paths_are_visible(cls, paths: list[Path], info: ValidationInfo) -> list[Path]:
        """Check the paths, unless the sandbox is off."""
        if info.data.get("sandbox") == "off" or "work_dir" not in info.data:
            return paths
        for path in paths:
            why = why_hidden(path, info.data["work_dir"])
            if why is not None:
                raise in_words(f"tools would not see {path}: {why}")
        return paths


def format_errors(error: ValidationError, option_names: Collection[str] = ()) -> list[str]:
    """Return a sentence for each invalid setting, with its value.

    ``option_names`` are the names of settings from the command line.
    """
    return [_format_error(details, option_names) for details in error.errors()]


def _format_error(details: ErrorDetails, option_names: Collection[str]) -> str:
    name, *place = details["loc"]
    setting = (
        f"--{name}".replace("_", "-")
        if name in option_names
        else f"SLUICE_PILOT_{str(name).upper()}"
    )
    if details["type"] == "list_type":
        return (
            f"{setting}: {quoted(details['input'])} is not a list, which is written as JSON:"
            """ '["one", "two"]'"""
        )
    where = "".join(f", number {index + 1}" for index in place if isinstance(index, int))
    value = "" if names_value(details) else f", not {quoted(details['input'])}"
    return f"{setting}{where}: {validation_sentence(details)}{value}"
