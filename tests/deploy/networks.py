"""Networks of docker-compose.yml: which services may reach each other."""

import re
from collections.abc import Iterator

from sluice.contracts.access.services import SERVICES, short_name
from tests.deploy.composition import Composition
from tests.deploy.processes import URL

SERVICE_NAMES = {short_name(service) for service in SERVICES}
#: Network → all services that must be in it.
MEMBERS = {
    "edge": {"operator", "ask", "dms", "prometheus", "grafana"},
    "pilots": {"pilot", "gateway"},
    "services": {*SERVICE_NAMES, "setup-storages", "gateway", "prometheus"},
    "data": {*SERVICE_NAMES, "postgres", "rabbitmq", "backup", "setup-databases", "setup-broker"},
}
#: Services without a network.
SERVICES_WITHOUT_NETWORK = {"setup-backup", "backup-assets"}
PILOT, GATEWAY = "pilot", "gateway"
#: They share the file with addresses of services, but send no requests to those.
_SERVICES_WITH_SPARE_ADDRESSES = {"setup-databases", "setup-broker"}
#: Service → the file with addresses of other services.
FILES = {
    "prometheus": "deploy/prometheus/prometheus.yml",
    "grafana": "deploy/grafana/provisioning/datasources/prometheus.yml",
    "gateway": "deploy/gateway/nginx.conf",
}


def list_networks(composition: Composition, name: str) -> set[str]:
    """Return the networks of a service; without any it is in the default network."""
    service = composition.services[name]
    if service.get("network_mode") == "none":
        return set()
    return set(service.get("networks", ["default"]))


def find_violations(composition: Composition) -> Iterator[str]:
    yield from _check_members(composition)
    yield from _check_outside_access(composition)
    yield from _check_services_reachable_by_tools(composition)
    yield from _check_addressed_services(composition)


def _check_members(composition: Composition) -> Iterator[str]:
    for name in composition.services:
        expected = {network for network, members in MEMBERS.items() if name in members}
        if not expected and name not in SERVICES_WITHOUT_NETWORK:
            yield f"{name}: nothing says which networks it may be in"
        networks = list_networks(composition, name)
        yield from (
            f"{name}: must not be in the network {one}" for one in sorted(networks - expected)
        )
        yield from (
            f"{name}: has to be in the network {one}" for one in sorted(expected - networks)
        )


def _check_outside_access(composition: Composition) -> Iterator[str]:
    """Find networks with a wrong way to the outside: only edge has one."""
    defined = composition.data.get("networks", {})
    if set(defined) != set(MEMBERS):
        yield f"the networks are {sorted(defined)}, and are to be {sorted(MEMBERS)}"
    for name, one in defined.items():
        if (one or {}).get("internal", False) != (name != "edge"):
            yield f"network {name}: all but edge are internal"
    for name, service in composition.services.items():
        if service.get("ports") and "edge" not in list_networks(composition, name):
            yield f"{name}: its ports lead nowhere, as it is in no network that leads out"


def _check_services_reachable_by_tools(composition: Composition) -> Iterator[str]:
    """Find services that a tool could reach outside of its sandbox."""
    own = list_networks(composition, PILOT)
    reachable_networks = {
        name for name in composition.services if list_networks(composition, name) & own
    }
    yield from (f"a tool reaches {name}" for name in sorted(reachable_networks - {PILOT, GATEWAY}))


def _check_addressed_services(composition: Composition) -> Iterator[str]:
    """Find services that have the address of another service but share no network with it."""
    for name in composition.services:
        texts = [*composition.environment(name).values()]
        texts += [composition.secret_files.get(secret, "") for secret in composition.secrets(name)]
        hosts = {host for text in texts for _, host, _ in URL.findall(text)}
        if name in FILES:
            text = (composition.root / FILES[name]).read_text(encoding="utf-8")
            hosts |= {
                one for one in composition.services if re.search(rf"\b{one}:\d|\[{one}\]", text)
            }
        address = hosts - (SERVICE_NAMES if name in _SERVICES_WITH_SPARE_ADDRESSES else set())
        for host in sorted(address & composition.services.keys() - {name}):
            if not list_networks(composition, name) & list_networks(composition, host):
                yield f"{name}: looks for {host}, and is in no network with it"
