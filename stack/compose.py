"""What this package knows of docker-compose.yml. A field that it does not know is an error, not
something to pass over."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sluice.contracts.wording import sentence_of
from sluice.os_errors import reason_of

#: The parser in C, ten times faster, where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class WrongComposeFile(ValueError):
    """What this package cannot run, with the place in the file."""


def seconds(text: object) -> object:
    """``1m30s`` → 90.0; what is not a duration is left for the model to refuse."""
    parts = re.findall(r"(\d+)(ms|h|m|s)", text) if isinstance(text, str) else []
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(int(number) * UNITS[unit] for number, unit in parts)
    return text


Duration = Annotated[float, BeforeValidator(seconds)]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HealthCheck(Model):
    test: list[str]
    timeout: Duration = 30.0
    # Here a start is looked at as often as is cheap, and what is healthy is left in peace.
    interval: Duration = 30.0
    retries: int = 3
    start_period: Duration = 0.0
    start_interval: Duration = 5.0

    def command(self) -> list[str]:
        if self.test[:1] != ["CMD"]:
            raise WrongComposeFile(
                f"healthcheck {self.test}: only the form [CMD, program, …] can be run here"
            )
        return self.test[1:]


class SecretMount(Model):
    source: str
    target: str


class Dependency(Model):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Deploy(Model):
    replicas: int = 1
    resources: Any = None


class ComposeService(Model):
    image: str
    entrypoint: list[str] = Field(default_factory=list)
    command: list[str] = Field(default_factory=list)
    # Parts of the system that are not run unless they are asked for: never here.
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
    # What shuts a container off from its machine, and how it is built and logged: nothing of it
    # applies to a plain process.
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
        """Every secret with the path of its file in the container."""
        named = [
            SecretMount(source=secret, target=secret) if isinstance(secret, str) else secret
            for secret in self.secrets
        ]
        return [
            (
                mount
                if mount.target.startswith("/")
                else SecretMount(source=mount.source, target=f"/run/secrets/{mount.target}")
            )
            for mount in named
        ]


class SecretFile(Model):
    file: str


class Compose(Model):
    name: str
    services: dict[str, ComposeService]
    networks: Any = None
    volumes: dict[str, None] = Field(default_factory=dict)
    secrets: dict[str, SecretFile] = Field(default_factory=dict)


def read_compose(path: Path) -> Compose:
    """Raises ``WrongComposeFile`` naming all that it does not know, ``OSError``."""
    text = path.read_text(encoding="utf-8")
    try:
        data = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, whichever it is
    except yaml.YAMLError as error:
        raise WrongComposeFile(f"{path}: is not YAML: {reason_of(error)}") from None
    if re.search(r"(?<!\$)\$(?!\$)[{A-Za-z_]", re.sub(r"(?m)#.*$", "", text)):
        raise WrongComposeFile(
            f"{path}: variables (${{NAME}}) are not replaced here; write values into the files of"
            " env_file"
        )
    if isinstance(data, dict):  # fields that hold pieces for the rest of the file
        data = {name: value for name, value in data.items() if not str(name).startswith("x-")}
    try:
        return Compose.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(map(str, wrong['loc']))}: {sentence_of(wrong)}"
            for wrong in error.errors()
        ]
        raise WrongComposeFile("\n".join(lines)) from None
