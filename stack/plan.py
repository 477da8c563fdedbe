"""The plan of a stack: services of a compose file, their replicas and their ports."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dotenv import dotenv_values

from stack.compose import Compose, ComposeService, WrongComposeFile

#: The client name of people, tests and benchmarks outside the stack.
OUTSIDE = "outside"


class PartKind(StrEnum):
    """Kinds of services."""

    POSTGRES = "postgres"
    RABBITMQ = "rabbitmq"
    #: A service of Sluice that listens: `sluice serve …`.
    SERVICE = "service"
    PILOT = "pilot"
    #: Runs once and ends.
    SETUP = "setup"
    #: Another program of PostgreSQL's image.
    TOOL = "tool"


#: The servers that all services need.
SERVERS = (PartKind.POSTGRES, PartKind.RABBITMQ)

GATEWAY = "nginx"
#: The kind of service for each image (without its tag). None: not run, as the output says.
IMAGES: Mapping[str, PartKind | None] = {
    "postgres": PartKind.POSTGRES,
    "rabbitmq": PartKind.RABBITMQ,
    "sluice-services": PartKind.SERVICE,
    "sluice-pilot": PartKind.PILOT,
    # Requests go directly to the services behind it.
    GATEWAY: None,
    "prom/prometheus": None,
    "grafana/grafana": None,
}


@dataclass(frozen=True, slots=True)
class PlannedService:
    """A service of the compose file.

    ``environment`` merges its env files and its own variables, with names of the container network.
    ``ports`` are those that it listens on in its container.
    """

    name: str
    kind: PartKind
    definition: ComposeService
    replicas: int
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    ports: Sequence[int]

    @property
    def runs_once(self) -> bool:
        """Return whether the service ends by itself when it has done its work."""
        return self.kind is PartKind.SETUP or (
            self.kind is PartKind.TOOL and self.definition.restart == "on-failure"
        )

    def process_names(self) -> list[str]:
        """Return the names of its processes."""
        return [f"{self.name}-{number}" for number in range(1, self.replicas + 1)]


@dataclass(frozen=True, slots=True)
class StackPlan:
    """The plan of a stack. ``left_out`` are services that are not run."""

    services: Mapping[str, PlannedService]
    left_out: Sequence[str]
    volumes: Sequence[str]

    def of_kind(self, *kinds: PartKind) -> list[PlannedService]:
        """Return the services of the given kinds."""
        return [service for service in self.services.values() if service.kind in kinds]


def make_plan(
    compose: Compose, *, root: Path, secrets: Path, replicas: Mapping[str, int]
) -> StackPlan:
    """Return the plan of a stack.

    Args:
        compose: The compose file.
        root: Its folder.
        secrets: The folder with the files that the compose file calls ``deploy/secrets/…``.
        replicas: Numbers of replicas that replace those of the file.

    Raises:
        WrongComposeFile: The file cannot be run.
    """
    kinds = {name: _kind(name, service) for name, service in compose.services.items()}
    if unknown := sorted(
        set(replicas) - {name for name, kind in kinds.items() if kind is not None}
    ):
        raise WrongComposeFile(
            f"no service {', '.join(unknown)} is run here; there are {', '.join(kinds)}"
        )
    texts = {
        name: _secret_texts(compose, service, secrets)
        for name, service in compose.services.items()
        if kinds[name]
    }
    passed_on = _passed_on(compose, root)
    environments = {
        name: _environment(service, root, passed_on)
        for name, service in compose.services.items()
        if kinds[name]
    }
    values = [
        text for named in [*texts.values(), *environments.values()] for text in named.values()
    ]
    planned = {}
    for name, service in compose.services.items():
        kind = kinds[name]
        if kind is None:
            continue
        planned[name] = PlannedService(
            name=name,
            kind=kind,
            definition=service,
            replicas=replicas.get(name, service.deploy.replicas),
            environment=environments[name],
            secrets=texts[name],
            ports=_ports(name, service, values),
        )
    return StackPlan(
        planned, [name for name, kind in kinds.items() if kind is None], list(compose.volumes)
    )


def reference(service: str) -> re.Pattern[str]:
    """Return a pattern for ``service:port`` in an address, but not for a login and its password."""
    return re.compile(rf"(?<![\w.-]){re.escape(service)}:(\d+)(?![\w@])")


def _kind(name: str, service: ComposeService) -> PartKind | None:
    image = service.image.rpartition(":")[0]
    if image not in IMAGES:
        raise WrongComposeFile(
            f"service {name}: what image {service.image} runs is not known here; known:"
            f" {', '.join(IMAGES)}"
        )
    kind = IMAGES[image]
    if service.profiles:
        return None
    if kind is PartKind.SERVICE and service.command[:2] != ["sluice", "serve"]:
        return PartKind.SETUP
    if kind is PartKind.POSTGRES and (service.entrypoint or service.command[:1] != ["postgres"]):
        return PartKind.TOOL
    return kind


def _passed_on(compose: Compose, root: Path) -> dict[str, str]:
    """Return the ``service:port`` behind each ``gateway:port`` in the gateway's configuration."""
    found = {}
    for name, service in compose.services.items():
        if service.image.rpartition(":")[0] == GATEWAY:
            [file] = [mount.partition(":")[0] for mount in service.volumes]
            text = (root / file).read_text(encoding="utf-8")
            [port] = re.findall(r"listen (\d+);", text)
            [found[f"{name}:{port}"]] = re.findall(r"set \$\w+ (\w+:\d+);", text)
    return found


def _environment(
    service: ComposeService, root: Path, passed_on: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of the env files in their order, overridden by the service's own."""
    found: dict[str, str] = {}
    for file in service.env_file:
        with (root / file).open(encoding="utf-8") as stream:
            values = dotenv_values(stream=stream, interpolate=False)
        for name, value in values.items():
            if value is None:
                raise WrongComposeFile(f"{file}: expected NAME=value, not {name} alone")
            found[name] = value
    told = found | dict(service.environment)
    for gateway, to in passed_on.items():
        told = {name: text.replace(f"//{gateway}", f"//{to}") for name, text in told.items()}
    return told


def _secret_texts(compose: Compose, service: ComposeService, folder: Path) -> dict[str, str]:
    """Return the text of each secret by its path in the container."""
    found = {}
    for mount in service.mounted_secrets():
        if mount.source not in compose.secrets:
            raise WrongComposeFile(
                f"secret {mount.source} is used, but not among the secrets of the file"
            )
        found[mount.target] = (folder / Path(compose.secrets[mount.source].file).name).read_text(
            encoding="utf-8"
        )
    return found


def _ports(name: str, service: ComposeService, values: Sequence[str]) -> list[int]:
    """Return the ports that others use (``name:port``), that are published, or that are checked."""
    found = {int(port) for value in values for port in reference(name).findall(value)}
    found |= {int(published.rpartition(":")[2]) for published in service.ports}
    if service.healthcheck is not None:
        found |= {
            int(port)
            for word in service.healthcheck.test
            for port in re.findall(r"127\.0\.0\.1:(\d+)", word)
        }
    return sorted(found)
