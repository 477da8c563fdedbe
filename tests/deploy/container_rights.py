"""Check docker-compose.yml against images, secrets and volumes, and the rights of containers."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sluice.servicekit.running.process import STOP_LIMIT, THREADS_LIMIT
from sluice.servicekit.web.server import ANSWER_LIMIT
from tests.deploy.composition import OWN_IMAGES, Composition

UNITS = {"s": 1, "m": 60, "h": 3600}
#: An image with a version, and optionally a digest.
VERSIONED = re.compile(r"[\w./-]+:[\w.-]*\d[\w.-]*(@sha256:[0-9a-f]{64})?")
#: Seconds that jobs have to end when their pilot is stopped.
DRAIN = 600


def find_violations(composition: Composition) -> Iterator[str]:
    for name, service in composition.services.items():
        yield from _check_limits(name, service)
        if not VERSIONED.fullmatch(service["image"]):
            yield f"{name}: {service['image']} is another image tomorrow"
        yield from _check_ports(name, service)
        yield from _check_mounts(composition, name)
    for name, service in composition.own.items():
        yield from _check_rights(name, service)
        yield from _check_image(composition, name)
        yield from _check_stop_grace(composition, name)
    yield from _check_secrets(composition)
    yield from _check_volumes(composition)
    yield from _check_dependencies(composition)


def parse_seconds(text: str) -> int:
    """Convert ``1m30s`` to 90."""
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([smh])", text))


def _check_limits(name: str, service: dict[str, Any]) -> Iterator[str]:
    limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
    yield from (f"{name}: no limit of {what}" for what in ("cpus", "memory") if what not in limits)
    if "restart" not in service:
        yield f"{name}: no restart policy"
    if "max-size" not in service.get("logging", {}).get("options", {}):
        yield f"{name}: its log grows forever"


def _check_ports(name: str, service: dict[str, Any]) -> Iterator[str]:
    open_to_all = [port for port in service.get("ports", []) if not port.startswith("127.0.0.1:")]
    yield from (f"{name}: port {port} is open to the network" for port in open_to_all)
    if service.get("ports") and service.get("deploy", {}).get("replicas", 1) > 1:
        yield f"{name}: several instances cannot open one port"


def _check_rights(name: str, service: dict[str, Any]) -> Iterator[str]:
    expected = {
        "read_only": True,
        "init": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "tmpfs": ["/tmp"],
    }
    yield from (
        f"{name}: {key} has to be {value}"
        for key, value in expected.items()
        if service.get(key) != value
    )
    forbidden = {"privileged", "user", "network_mode", "pid", "cap_add"} & set(service)
    yield from (f"{name}: {key} has no place here" for key in sorted(forbidden))


def _check_image(composition: Composition, name: str) -> Iterator[str]:
    service = composition.services[name]
    image, _, tag = service["image"].partition(":")
    version = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    if tag != version:
        yield f"{name}: image {image}:{tag}, and the version is {version}"
    builders = [
        one["build"]
        for one in composition.own.values()
        if one["image"] == service["image"] and "build" in one
    ]
    if len(builders) != 1:
        yield f"{name}: {len(builders)} services build {image}, one has to"
    for build in builders:
        stages = re.findall(
            r"^FROM \S+ AS (\S+)$",
            (composition.root / build["dockerfile"]).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        if build["target"] not in stages or build["target"] != OWN_IMAGES[image]:
            yield f"{name}: {build['dockerfile']} has no target {build['target']} for {image}"


def _check_stop_grace(composition: Composition, name: str) -> Iterator[str]:
    service = composition.services[name]
    if service["restart"] == "on-failure":
        return
    grace = parse_seconds(service.get("stop_grace_period", "10s"))
    needed = DRAIN if name == "pilot" else ANSWER_LIMIT + STOP_LIMIT + THREADS_LIMIT
    if grace <= needed:
        yield f"{name}: is killed {grace} s after it was told to stop; it may need {needed:g}"


def _check_secrets(composition: Composition) -> Iterator[str]:
    defined = composition.data["secrets"]
    used = {secret for name in composition.services for secret in composition.secrets(name)}
    yield from (f"secret {name} is not defined" for name in sorted(used - set(defined)))
    yield from (f"secret {name} is used nowhere" for name in sorted(set(defined) - used))
    yield from (
        f"secret {name}: {one['file']}"
        for name, one in defined.items()
        if one != {"file": f"deploy/secrets/{name}"}
    )
    generated = composition.secret_files
    yield from (
        f"deploy/secrets.sh does not make {name}" for name in sorted(set(defined) - set(generated))
    )
    yield from (
        f"deploy/secrets.sh makes {name}, which nothing uses"
        for name in sorted(set(generated) - set(defined))
    )
    for name in composition.services:
        for key, value in composition.environment(name).items():
            if (
                value.startswith("/run/secrets/")
                and value not in composition.secrets(name).values()
            ):
                yield f"{name}: {key} names {value}, which it does not have"


def _check_mounts(composition: Composition, name: str) -> Iterator[str]:
    for target, source in composition.volumes(name).items():
        if source.startswith(".") and not (composition.root / source).exists():
            yield f"{name}: {source}, mounted at {target}, does not exist"
        if source.startswith("/"):
            yield f"{name}: {source} is a folder of one machine"


def _check_volumes(composition: Composition) -> Iterator[str]:
    used = {
        source
        for name in composition.services
        for source in composition.volumes(name).values()
        if not source.startswith(".")
    }
    yield from (
        f"volume {name} is not defined" for name in sorted(used - set(composition.data["volumes"]))
    )
    yield from (
        f"volume {name} is used nowhere" for name in sorted(set(composition.data["volumes"]) - used)
    )


def _check_dependencies(composition: Composition) -> Iterator[str]:
    """Find dependencies of long-running services: only one-off services may wait for others."""
    for name, service in composition.services.items():
        for needed in service.get("depends_on", {}):
            if service.get("restart") != "on-failure":
                yield f"{name}: must not depend on the start of {needed}"
            if "healthcheck" not in composition.services.get(needed, {}):
                yield f"{name}: waits for the health of {needed}, which has no check"
