"""Specifications of the processes of a stack.

A specification has the command, environment and files of one replica, translated from its
container.
"""

import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stack import postgres, rabbitmq
from stack.compose import InvalidComposeFile
from stack.network import Network
from stack.plan import PartKind, PlannedService
from stack.ports import LOOPBACK, free_ports
from stack.targets import Endpoint

#: Variables that are kept from this process's environment. All others come from the compose file.
INHERITED_VARIABLES = ("LANG", "LC_ALL", "TZ", "PYTHONPATH")
#: The place of the data in the image.
PGDATA = "/var/lib/postgresql/18/docker"
CONF_D = "/etc/rabbitmq/conf.d/"
SECRETS = "/run/secrets"
INIT_D = "/docker-entrypoint-initdb.d/"


#: Runs a short command with its output in the log of the process, and returns its exit status.
Run = Callable[[Sequence[str]], Awaitable[int]]
Prepare = Callable[[Run], Awaitable[None]]


async def nothing_to_prepare(run: Run) -> None:
    """Do nothing: most programs can just be started."""


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """The specification of a process.

    ``prepare`` is called before each start. ``companions`` are commands that run beside it
    (RabbitMQ's port mapper).
    """

    name: str
    service: PlannedService
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    health: Sequence[str] | None
    health_limit: float
    endpoints: Mapping[int, Endpoint]
    stop_signal: signal.Signals
    prepare: Prepare = nothing_to_prepare
    companions: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class StackPlace:
    """The place of a stack.

    ``root`` is the folder of the compose file, and ``home`` the folder of everything that the stack
    writes. ``extra`` is added to the environment of the programs of Sluice.
    """

    root: Path
    home: Path
    volumes: Sequence[str]
    extra: Mapping[str, str] = field(default_factory=dict)

    def volume(self, name: str) -> Path:
        """Return the folder of a volume."""
        return self.home / name


def make_spec(
    service: PlannedService, replica: int, site: StackPlace, network: Network
) -> ProcessSpec:
    """Return the specification of a replica and write its folder.

    The folder has its working files, its home, its temporary files and its secrets.

    Raises:
        InvalidComposeFile: The service cannot be run.
        OSError: The folder cannot be written.
    """
    container = _Container(service, replica, site, network)
    match service.kind:
        case PartKind.POSTGRES:
            return container.postgres()
        case PartKind.RABBITMQ:
            return container.rabbitmq()
        case PartKind.SERVICE | PartKind.PILOT | PartKind.SETUP:
            return container.program()
        case PartKind.TOOL:
            return container.tool()


class _Container:
    def __init__(
        self, service: PlannedService, replica: int, site: StackPlace, network: Network
    ) -> None:
        self._service = service
        self._site = site
        self._network = network
        self._name = service.process_names()[replica]
        self._folder = site.home / "processes" / self._name
        self._endpoints = network.endpoints(service.name, replica)
        for folder in (self._folder, self._folder / "tmp", self._folder / "secrets"):
            folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "secrets").chmod(0o700)
        self._places = self._mount()

    def program(self) -> ProcessSpec:
        """Return the specification of a program of Sluice."""
        environment = self._environment()
        environment |= {
            name: self._network.translate(self._service.name, value)
            for name, value in self._site.extra.items()
        }
        environment["SLUICE_SECRETS_DIR"] = str(self._folder / "secrets")
        if self._service.kind is PartKind.SERVICE:
            environment |= self._port()
        if self._service.kind is PartKind.PILOT:
            # In a container the pilot takes the name of its host, which is its own.
            environment["SLUICE_PILOT_NAME"] = self._name
        return self._build_spec(self._service.definition.command, environment)

    def tool(self) -> ProcessSpec:
        """Return the specification of a tool of PostgreSQL's image."""
        environment = {"PATH": f"{postgres.binaries()}:{os.environ['PATH']}"} | self._environment()
        command = [*self._service.definition.entrypoint, *self._service.definition.command]
        if self._service.definition.user is None:
            return self._build_spec(command, environment)
        postgres.chown_to_system_user(self._folder)
        return self._build_spec([*postgres.as_system_user(self._folder), *command], environment)

    def postgres(self) -> ProcessSpec:
        """Return the specification of PostgreSQL."""
        [port] = self._endpoints.values()
        data = self._path(PGDATA)
        environment = self._environment()
        user = environment.get("POSTGRES_USER", "postgres")
        scripts = [self._path(place) for place in sorted(self._places) if place.startswith(INIT_D)]
        password = Path(environment["POSTGRES_PASSWORD_FILE"]).read_text(encoding="utf-8").strip()

        async def prepare(run: Run) -> None:
            await postgres.initialise(data, user=user, password=password, run=run, scripts=scripts)

        command = postgres.server_command(data, port.port, self._service.definition.command[1:])
        environment |= {
            "PATH": f"{postgres.binaries()}:{os.environ['PATH']}",
            "PGPORT": str(port.port),
        }
        return self._build_spec(command, environment, prepare=prepare)

    def rabbitmq(self) -> ProcessSpec:
        """Return the specification of RabbitMQ."""
        amqp, management = self._endpoints[5672].port, self._endpoints[15672].port
        distribution, mapper = free_ports(2)
        data = self._path("/var/lib/rabbitmq/mnesia")
        place = rabbitmq.BrokerPlace(
            self._folder / "broker",
            data,
            amqp=amqp,
            management=management,
            distribution=distribution,
            mapper=mapper,
            name="sluice",
        )
        configuration = sorted(place for place in self._places if place.startswith(CONF_D))
        if not Path(rabbitmq.SERVER).exists():
            raise rabbitmq.RabbitMissing
        place.configure(*(self._path(file).read_text(encoding="utf-8") for file in configuration))
        environment = self._environment() | place.environment()
        return self._build_spec([rabbitmq.SERVER], environment, companions=[place.mapper_command()])

    def _build_spec(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        prepare: Prepare = nothing_to_prepare,
        companions: Sequence[Sequence[str]] = (),
    ) -> ProcessSpec:
        definition = self._service.definition
        health = definition.healthcheck.command() if definition.healthcheck else None
        return ProcessSpec(
            name=self._name,
            service=self._service,
            command=[
                _find_program(word) if index == 0 else self._translate(word)
                for index, word in enumerate(command)
            ],
            environment=self._base() | dict(environment),
            folder=self._folder,
            health=[_find_program(health[0]), *map(self._translate, health[1:])]
            if health
            else None,
            health_limit=definition.healthcheck.timeout if definition.healthcheck else 0.0,
            endpoints=self._endpoints,
            stop_signal=signal.Signals[definition.stop_signal],
            prepare=prepare,
            companions=companions,
        )

    def _environment(self) -> dict[str, str]:
        return {name: self._translate(value) for name, value in self._service.environment.items()}

    def _base(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
        own = {
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder / "tmp"),
            "PYTHONUNBUFFERED": "1",
        }
        return inherited | own | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def _port(self) -> dict[str, str]:
        """Return the variable for the port of a service, which shares this machine with others."""
        if len(self._endpoints) != 1:
            raise InvalidComposeFile(
                f"service {self._service.name}: expected one port, found {sorted(self._endpoints)}"
            )
        [endpoint] = self._endpoints.values()
        return {f"SLUICE_{self._service.definition.command[2].upper()}_PORT": str(endpoint.port)}

    def _translate(self, text: str) -> str:
        """Return a text with paths and addresses of the container translated to this machine."""
        for place, path in sorted(self._places.items(), key=lambda mount: -len(mount[0])):
            text = re.sub(rf"(?<![\w./-]){re.escape(place)}(?=/|$|[^\w.-])", str(path), text)
        for port, endpoint in self._endpoints.items():
            text = text.replace(f"{LOOPBACK}:{port}", f"{LOOPBACK}:{endpoint.port}")
        text = LOOPBACK if text == "0.0.0.0" else text  # noqa: S104 - what a container listens on
        return self._network.translate(self._service.name, text)

    def _mount(self) -> dict[str, Path]:
        """Return the path on this machine of each mounted path in the container."""
        mounts = {}
        for volume in self._service.definition.volumes:
            source, target, *_ = volume.split(":")
            if source in self._site.volumes:
                mounts[target] = self._site.volume(source)
                mounts[target].mkdir(parents=True, exist_ok=True)
            elif source.startswith("."):
                mounts[target] = (self._site.root / source).resolve()
            else:
                raise InvalidComposeFile(
                    f"service {self._service.name}: {source} is neither a volume of the file nor a"
                    " path in its folder"
                )
        for target, text in self._service.secrets.items():
            path = self._folder / "secrets" / Path(target).name
            path.touch(mode=0o600)
            path.write_text(self._network.translate(self._service.name, text), encoding="utf-8")
            mounts[target] = path
            mounts[SECRETS] = path.parent
        return mounts

    def _path(self, place: str) -> Path:
        for mounted, path in self._places.items():
            if place == mounted or place.startswith(f"{mounted}/"):
                return path / place.removeprefix(mounted).lstrip("/")
        raise InvalidComposeFile(f"service {self._service.name}: {place} is on no volume")


def _find_program(word: str) -> str:
    """Return the path of a program in this Python environment, or the word itself for others."""
    own = Path(sys.executable).parent / word
    return str(own) if "/" not in word and own.exists() else word
