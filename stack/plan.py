"""The plan of a stack: services of a compose file, their replicas and their ports."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dotenv import dotenv_values

from stack.compose import Compose, ComposeService, InvalidComposeFile

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
#: The kind of service for each image (without its tag). An image with None is not run, and the
#: output says so.
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
        """Return whether the service exits when it has done its work."""
        return self.kind is PartKind.SETUP or (
            self.kind is PartKind.TOOL and self.definition.restart == "on-failure"
        )

    def process_names(self) -> list[str]:
        """Return the names of its processes."""
        return [f"{self.name}-{number}" for number in range(1, self.replicas + 1)]


@dataclass(frozen=True, slots=True)
class StackPlan:
    """The plan of a stack. ``skipped_services`` are services that are not run."""

    services: Mapping[str, PlannedService]
    skipped_services: Sequence[str]
    volumes: Sequence[str]

    def list_services(self, *kinds: PartKind) -> list[PlannedService]:
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
        InvalidComposeFile: The file cannot be run.
    """
    kinds = {name: _find_kind(name, service) for name, service in compose.services.items()}
    if unknown := sorted(
        set(replicas) - {name for name, kind in kinds.items() if kind is not None}
    ):
        raise InvalidComposeFile(
            f"no service {', '.join(unknown)} is run here; there are {', '.join(kinds)}"
        )
    texts = {
        name: _read_secrets(compose, service, secrets)
        for name, service in compose.services.items()
        if kinds[name]
    }
    gateway_targets = _read_gateway_targets(compose, root)
    environments = {
        name: _read_environment(service, root, gateway_targets)
        for name, service in compose.services.items()
        if kinds[name]
    }
    values = [
        text for mapping in [*texts.values(), *environments.values()] for text in mapping.values()
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
            ports=_find_ports(name, service, values),
        )
    return StackPlan(
        planned, [name for name, kind in kinds.items() if kind is None], list(compose.volumes)
    )


def reference(service: str) -> re.Pattern[str]:
    """Return a pattern for ``service:port`` in an address, but not for a login and its password."""
    return re.compile(rf"(?<![\w.-]){re.escape(service)}:(\d+)(?![\w@])")


def _find_kind(name: str, service: ComposeService) -> PartKind | None:
    image = service.image.rpartition(":")[0]
    if image not in IMAGES:
        raise InvalidComposeFile(
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


def _read_gateway_targets(compose: Compose, root: Path) -> dict[str, str]:
    """Return the ``service:port`` behind each ``gateway:port`` in the gateway's configuration."""
    targets = {}
    for name, service in compose.services.items():
        if service.image.rpartition(":")[0] == GATEWAY:
            [file] = [mount.partition(":")[0] for mount in service.volumes]
            text = (root / file).read_text(encoding="utf-8")
            [port] = re.findall(r"listen (\d+);", text)
            [targets[f"{name}:{port}"]] = re.findall(r"set \$\w+ (\w+:\d+);", text)
    return targets


def _read_environment(
    service: ComposeService, root: Path, gateway_targets: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of the env files in their order, overridden by the service's own."""
    variables: dict[str, str] = {}
    for file in service.env_file:
        with (root / file).open(encoding="utf-8") as stream:
            values = dotenv_values(stream=stream, interpolate=False)
        for name, value in values.items():
            if value is None:
                raise InvalidComposeFile(f"{file}: expected NAME=value, not {name} alone")
            variables[name] = value
    environment = variables | dict(service.environment)
    for gateway, target in gateway_targets.items():
        environment = {
            name: text.replace(f"//{gateway}", f"//{target}") for name, text in environment.items()
        }
    return environment


def _read_secrets(compose: Compose, service: ComposeService, folder: Path) -> dict[str, str]:
    """Return the text of each secret by its path in the container."""
    secret_texts = {}
    for mount in service.mounted_secrets():
        if mount.source not in compose.secrets:
            raise InvalidComposeFile(
                f"secret {mount.source} is used, but not among the secrets of the file"
            )
        secret_texts[mount.target] = (
            folder / Path(compose.secrets[mount.source].file).name
        ).read_text(encoding="utf-8")
    return secret_texts


def _find_ports(name: str, service: ComposeService, values: Sequence[str]) -> list[int]:
    """Return the ports that others use (``name:port``), that are published, or that are checked."""
    ports = {int(port) for value in values for port in reference(name).findall(value)}
    ports |= {int(published.rpartition(":")[2]) for published in service.ports}
    if service.healthcheck is not None:
        ports |= {
            int(port)
            for word in service.healthcheck.test
            for port in re.findall(r"127\.0\.0\.1:(\d+)", word)
        }
    return sorted(ports)
