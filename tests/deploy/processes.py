"""Check docker-compose.yml against the code: commands, ports, health checks, settings."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import typer
from typer._click.exceptions import UsageError
from typer.core import TyperGroup

from dms.domain.storage_urls import contains_url, read_roots
from pilot.settings import PilotSettings
from scripts.docs.services import build_app
from sluice.cli.app import command_line
from sluice.contracts.access.services import SERVICES, CallingService, short_name
from sluice.contracts.common.base import Contract
from sluice.servicekit.running.service_modules import settings_class
from sluice.servicekit.sealing import SealingSettings
from sluice.servicekit.settings import Addresses, ServiceSettings
from sluice.servicekit.settings_sources import (
    SECRETS_DIR,
    InvalidSettings,
    load_settings,
    unknown_variables,
)
from sluice.setup.logins import SetupSettings, broker_logins, database_logins
from tests.callers import allow_everybody
from tests.deploy.composition import Composition

#: Services that run several instances, as a single one would be a point of failure.
SEVERAL = {"wms", "chains"}
#: ``sluice.clientkit.connection`` and ``sluice.network.credentials`` read these variables.
CLIENT_VARIABLES = {"SLUICE_DMS_URL", "SLUICE_TOKEN_FILE"}
URL = re.compile(r"(\w+)://(?:[^@/]*@)?([\w.-]+):(\d+)")
#: Ports of services that are not built here.
PORTS = {"postgres": 5432, "rabbitmq": 5672, "gateway": 8090, "prometheus": 9090, "grafana": 3000}
MANAGEMENT_PORT = 15672
#: The keys that encrypt secrets of tools.
KEYS = "sluice_encryption_keys"
#: Private and public keys of services.
KEY_FILES = (".key", ".pub")

#: Service → the port on which its containers listen.
CONTAINER_PORTS = {short_name(service): service.port for service in SERVICES}


def find_package(name: str) -> CallingService:
    return next(service for service in SERVICES if short_name(service) == name)


def find_violations(composition: Composition) -> Iterator[str]:
    yield from _check_services(composition)
    for name in composition.own:
        yield from _check_command(composition, name)
    for name in composition.served:
        yield from _check_service(composition, name)
    yield from _check_setup(composition)
    yield from _check_storages(composition)
    yield from _check_pilots(composition)
    yield from _check_addresses(composition)


def _check_services(composition: Composition) -> Iterator[str]:
    services = set(Addresses.model_fields)
    served = {name: service["command"][2] for name, service in composition.served.items()}
    if set(served.values()) != services:
        yield f"services: {sorted(served.values())} are served; the system has {sorted(services)}"
    yield from (
        f"{name}: serves {service}, and others look for that as {service!r}"
        for name, service in served.items()
        if name != service
    )
    for name in SEVERAL & set(served):
        if composition.services[name]["deploy"].get("replicas", 1) < 2:
            yield f"{name}: has to run twice"


def _check_command(composition: Composition, name: str) -> Iterator[str]:
    program, *arguments = composition.services[name]["command"]
    if program == "sluice-pilot":
        options = {f"--{field.replace('_', '-')}" for field in PilotSettings.model_fields}
        yield from (
            f"{name}: sluice-pilot has no option {option}"
            for option in arguments
            if option.startswith("--") and option not in options
        )
    elif program == "sluice":
        try:
            _resolve(arguments)
        except UsageError as error:
            yield f"{name}: {' '.join(arguments)}: {error.format_message()}"
    else:
        yield f"{name}: there is no program {program}"


@cache
def _load_commands() -> Any:
    return typer.main.get_command(command_line())


def _resolve(arguments: list[str]) -> Any:
    """Parse a command without running it, and return it; raise ``UsageError`` if it is wrong."""
    command: Any = _load_commands()
    context = typer.Context(command, info_name="sluice")
    while isinstance(command, TyperGroup):
        name, command, arguments = command.resolve_command(context, list(arguments))
        context = typer.Context(command, info_name=name, parent=context)
    command.make_context(command.name, list(arguments))
    return command


def _check_service(composition: Composition, name: str) -> Iterator[str]:
    service = composition.services[name]
    if service["command"][2] not in CONTAINER_PORTS:
        return
    package = find_package(service["command"][2])
    owner = settings_class(package)
    # The command in the container reads the others.
    own = composition.environment(name).keys() - CLIENT_VARIABLES
    yield from _check_variables(name, sorted(own), owner)
    yield from _check_secrets(composition, name, owner)
    try:
        settings = _load_settings(composition, name, owner)
    except InvalidSettings as error:
        yield from (f"{name}: {sentence}" for sentence in error.sentences)
        return
    yield from _check_port(name, service, settings, package)
    if not settings.accounts:
        yield f"{name}: people need not say who they are"
    if settings.declare_queues:
        yield f"{name}: its login may not declare queues, and it would try"
    wrong_urls = {
        key: url
        for key, url in settings.addresses.model_dump().items()
        if not url.startswith(f"http://{key}:")
    }
    yield from (f"{name}: looks for {key} at {url}" for key, url in wrong_urls.items())


def _check_variables(
    name: str, environment: Iterable[str], owner: type[ServiceSettings]
) -> Iterator[str]:
    """Find variables that are neither the service's own settings nor shared settings."""
    prefix = str(owner.model_config["env_prefix"])
    for variable in environment:
        own = variable.startswith(prefix)
        field, *nested = variable.removeprefix(prefix if own else "SLUICE_").lower().split("__")
        fields: Any = owner.model_fields if own else owner.SHARED
        if field not in fields or not _is_nested_field(owner, field, nested):
            yield f"{name}: no setting is called {variable}"


def _is_nested_field(owner: type[ServiceSettings], field: str, nested: list[str]) -> bool:
    inner = owner.model_fields[field].annotation
    if not nested:
        return True
    return (
        isinstance(inner, type) and issubclass(inner, Contract) and nested[0] in inner.model_fields
    )


def _check_secrets(
    composition: Composition, name: str, owner: type[ServiceSettings]
) -> Iterator[str]:
    prefix = str(owner.model_config["env_prefix"]).lower()
    secrets = composition.secrets(name)
    fields = {secret: secret.removeprefix(prefix) for secret in secrets}
    yield from (
        f"{name}: no setting is called {secret}"
        for secret, field in fields.items()
        if field not in owner.model_fields
        and secret.removeprefix("sluice_")
        not in {*(owner.SHARED - ServiceSettings.SHARED), "metrics_token"}
        and not secret.endswith(KEY_FILES)
    )
    yield from _check_service_keys(composition, name, secrets)
    if issubclass(owner, SealingSettings) and KEYS not in secrets:
        yield f"{name}: cannot encrypt without the secret {KEYS}"
    yield from (
        f"{name}: {secret} is not where settings are read"
        for secret, at in secrets.items()
        if at != f"/run/secrets/{secret}"
    )


def _check_service_keys(
    composition: Composition, name: str, secrets: Mapping[str, str]
) -> Iterator[str]:
    """Find missing and superfluous keys: a service has its own private key and all public keys."""
    keys = {secret for secret in secrets if secret.endswith(KEY_FILES)}
    expected = {f"{name}.key", *(f"{one}.pub" for one in composition.served)}
    yield from (f"{name}: has the key {key}" for key in sorted(keys - expected))
    yield from (f"{name}: lacks the key {key}" for key in sorted(expected - keys))


def _load_settings(
    composition: Composition, name: str, owner: type[ServiceSettings]
) -> ServiceSettings:
    """Load the settings as the process in the container does."""
    with enter_container_environment(composition, name):
        settings = load_settings(owner)
        if settings.service_keys != Path("/run/secrets"):
            raise InvalidSettings([f"its keys are looked for in {settings.service_keys}"])
        if unknown := unknown_variables(owner):
            raise InvalidSettings([f"no setting is called {variable}" for variable in unknown])
        return settings


def enter_container_environment(composition: Composition, name: str) -> Any:
    """Set the environment of a container, with its secrets in a separate folder."""
    folder = composition.root / "run-secrets" / name
    folder.mkdir(parents=True, exist_ok=True)
    for secret in composition.secrets(name):
        if secret in composition.secret_files:
            (folder / secret).write_text(composition.secret_files[secret] + "\n", encoding="utf-8")
    return mock.patch.dict(
        os.environ, {**composition.environment(name), SECRETS_DIR: str(folder)}, clear=True
    )


def _check_port(
    name: str, service: Mapping[str, Any], settings: ServiceSettings, package: str
) -> Iterator[str]:
    if settings.host != "0.0.0.0":  # noqa: S104 - a container's own network
        yield f"{name}: listens on {settings.host}, where nobody outside the container reaches it"
    text = " ".join(service["healthcheck"]["test"])
    match = URL.search(text)
    if match is None or int(match[3]) != settings.port:
        yield f"{name}: its health check asks elsewhere than port {settings.port}: {text}"
    path = text.partition(f":{settings.port}")[2].partition("'")[0]
    if not has_route(package, path):
        yield f"{name}: its health check asks for {path}, which it does not answer"
    for mapping in service.get("ports", []):
        if int(mapping.split(":")[-1]) != settings.port:
            yield f"{name}: opens port {mapping.split(':')[-1]}, and listens on {settings.port}"


def has_route(package: str, path: str) -> bool:
    """Return whether a service has this route; it may answer that it is not ready."""

    async def ask() -> int:
        transport = httpx.ASGITransport(
            allow_everybody(build_app(package)), raise_app_exceptions=False
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return (await client.get(path)).status_code

    return asyncio.run(ask()) in {200, 503}


def _check_setup(composition: Composition) -> Iterator[str]:
    readers = {"setup-databases": database_logins, "setup-broker": broker_logins}
    for name, read in readers.items():
        expected = {
            f"sluice_{service}_{'database' if read is database_logins else 'broker'}_url"
            for service in Addresses.model_fields
        }
        administrator = (
            "sluice_setup_admin_url" if read is database_logins else "sluice_setup_management_url"
        )
        backup = {"sluice_setup_backup_url"} if read is database_logins else set[str]()
        if set(composition.secrets(name)) != {*expected, administrator, *backup}:
            yield f"{name}: has the secrets {sorted(composition.secrets(name))}"
        for variable in composition.environment(name):
            if (
                variable.removeprefix("SLUICE_").lower().split("__")[0]
                not in ServiceSettings.SHARED
            ):
                yield f"{name}: no setting is called {variable}"
        try:
            with enter_container_environment(composition, name):
                read()
                setup = load_settings(SetupSettings)
        except InvalidSettings as error:
            yield from (f"{name}: {sentence}" for sentence in error.sentences)
            continue
        if (setup.admin_url if read is database_logins else setup.management_url) is None:
            yield f"{name}: knows no administrator"


def _check_storages(composition: Composition) -> Iterator[str]:
    name = "setup-storages"
    command = _resolve(composition.services[name]["command"][1:])
    variables = {
        parameter.envvar for parameter in command.params if isinstance(parameter.envvar, str)
    } | CLIENT_VARIABLES
    yield from (
        f"{name}: the command reads no {variable}"
        for variable in composition.environment(name)
        if variable not in variables
    )
    folder = composition.services[name]["command"][-1]
    users = {
        user: composition.volumes(user).get(folder) for user in (name, "dms", "pilot", "operator")
    }
    if len(set(users.values())) > 1 or None in users.values():
        yield f"{folder} has to be one volume, at the same path, in {sorted(users)}"
    roots = read_roots(composition.environment("dms").get("SLUICE_DMS_STORAGE_ROOTS", ""))
    if not any(contains_url(root, f"file://{folder}") for root in roots):
        yield f"{name}: the DMS refuses storages in {folder}"
    if not composition.is_read_only("operator", folder):
        yield f"operator: it shows what lies in {folder}, and need not write there"


def _check_pilots(composition: Composition) -> Iterator[str]:
    environment = composition.environment("pilot")
    prefix = str(PilotSettings.model_config["env_prefix"])
    for variable in environment:
        if (
            not variable.startswith(prefix)
            or variable.removeprefix(prefix).lower() not in PilotSettings.model_fields
        ):
            yield f"pilot: no setting is called {variable}"
    with mock.patch.dict(os.environ, environment, clear=True):
        settings = PilotSettings()
    if not any(settings.work_dir.is_relative_to(path) for path in composition.volumes("pilot")):
        yield f"pilot: {settings.work_dir} is on no volume"
    if settings.cores != round(
        float(composition.services["pilot"]["deploy"]["resources"]["limits"]["cpus"])
    ):
        yield "pilot: its cores and its limit of cores differ"


def _check_addresses(composition: Composition) -> Iterator[str]:
    """Find URLs in environment and secrets that do not lead to a service and its port."""
    ports = PORTS | CONTAINER_PORTS
    texts = {
        f"{name}: {key}": value
        for name in composition.own
        for key, value in composition.environment(name).items()
        if not key.endswith("_PUBLIC_URL")  # Public URLs are for browsers outside.
    }
    texts |= {f"secret {name}": text for name, text in composition.secret_files.items()}
    for source, text in texts.items():
        for scheme, host, port in URL.findall(text):
            expected = (
                MANAGEMENT_PORT if host == "rabbitmq" and scheme == "http" else ports.get(host)
            )
            if host not in composition.services:
                yield f"{source}: there is no service {host}"
            elif int(port) != expected:
                yield f"{source}: {host} listens on {expected}, not on {port}"
