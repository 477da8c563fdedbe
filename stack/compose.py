"""The part of docker-compose.yml that this package understands. Unknown fields are errors."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sluice.contracts.common.wording import validation_sentence
from sluice.text.os_errors import reason_of

#: The C parser, if PyYAML has it, is ten times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class InvalidComposeFile(ValueError):
    """The compose file has something that this package cannot run. The message names it."""


def parse_seconds(text: object) -> object:
    """Return the seconds in ``1m30s``, and other values unchanged for the model to refuse."""
    parts = re.findall(r"(\d+)(ms|h|m|s)", text) if isinstance(text, str) else []
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(int(number) * UNITS[unit] for number, unit in parts)
    return text


Duration = Annotated[float, BeforeValidator(parse_seconds)]


class Model(BaseModel):
    """Base of the models, which refuse unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HealthCheck(Model):
    """A health check."""

    test: list[str]
    timeout: Duration = 30.0
    # This package checks a starting process as often as is cheap, and a healthy one not at all.
    interval: Duration = 30.0
    retries: int = 3
    start_period: Duration = 0.0
    start_interval: Duration = 5.0

    def command(self) -> list[str]:
        """Return the command of the check.

        Raises:
            InvalidComposeFile: It has another form than ``[CMD, program, …]``.
        """
        if self.test[:1] != ["CMD"]:
            raise InvalidComposeFile(
                f"healthcheck {self.test}: only the form [CMD, program, …] can be run here"
            )
        return self.test[1:]


class SecretMount(Model):
    """A secret and the path of its file in the container."""

    source: str
    target: str


class Dependency(Model):
    """The condition of a dependency."""

    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Deploy(Model):
    """The deployment of a service."""

    replicas: int = 1
    resources: Any = None


class ComposeService(Model):
    """A service of the compose file."""

    image: str
    entrypoint: list[str] = Field(default_factory=list)
    command: list[str] = Field(default_factory=list)
    # Services with profiles are never run here.
    profiles: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    env_file: list[str] = Field(default_factory=list)
    secrets: list[str | SecretMount] = Field(default_factory=list)
    volumes: list[str] = Field(default_factory=list)
    ports: list[str] = Field(default_factory=list)
    healthcheck: HealthCheck | None = None
    depends_on: dict[str, Dependency] = Field(default_factory=dict)
    restart: Literal["no", "on-failure", "unless-stopped", "always"] = "no"
    stop_signal: str = "SIGTERM"
    stop_grace_period: Duration = 10.0
    deploy: Deploy = Deploy()
    # Fields that isolate, build or log a container. They do not apply to a plain process.
    build: Any = None
    hostname: Any = None
    init: Any = None
    read_only: Any = None
    tmpfs: Any = None
    cap_drop: Any = None
    cap_add: Any = None
    security_opt: Any = None
    logging: Any = None
    shm_size: Any = None
    ulimits: Any = None
    user: Any = None
    networks: Any = None
    network_mode: Literal["none"] | None = None

    def mounted_secrets(self) -> list[SecretMount]:
        """Return every secret with the path of its file in the container."""
        mounts = [
            SecretMount(source=secret, target=secret) if isinstance(secret, str) else secret
            for secret in self.secrets
        ]
        return [
            (
                mount
                if mount.target.startswith("/")
                else SecretMount(source=mount.source, target=f"/run/secrets/{mount.target}")
            )
            for mount in mounts
        ]


class SecretFile(Model):
    """The file of a secret."""

    file: str


class Compose(Model):
    """A compose file."""

    name: str
    services: dict[str, ComposeService]
    networks: Any = None
    volumes: dict[str, None] = Field(default_factory=dict)
    secrets: dict[str, SecretFile] = Field(default_factory=dict)


def read_compose(path: Path) -> Compose:
    """Read a compose file.

    Raises:
        InvalidComposeFile: It has unknown fields. The message names all of them.
        OSError: The file cannot be read.
    """
    text = path.read_text(encoding="utf-8")
    try:
        data = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, whichever it is
    except yaml.YAMLError as error:
        raise InvalidComposeFile(f"{path}: is not YAML: {reason_of(error)}") from None
    if re.search(r"(?<!\$)\$(?!\$)[{A-Za-z_]", re.sub(r"(?m)#.*$", "", text)):
        raise InvalidComposeFile(
            f"{path}: variables (${{NAME}}) are not replaced here; write values into the files of"
            " env_file"
        )
    if isinstance(data, dict):  # extension fields hold shared parts of the file
        data = {name: value for name, value in data.items() if not str(name).startswith("x-")}
    try:
        return Compose.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(map(str, details['loc']))}: {validation_sentence(details)}"
            for details in error.errors()
        ]
        raise InvalidComposeFile("\n".join(lines)) from None
