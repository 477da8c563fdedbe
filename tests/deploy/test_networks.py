"""Each service is in its networks, a tool reaches only the gateway, and rules find violations."""

from itertools import product

import pytest

from tests.deploy import networks
from tests.deploy.compose_files import FILE, PILOT, replace_text
from tests.deploy.composition import Composition
from tests.deploy.networks import MEMBERS, SERVICES_WITHOUT_NETWORK

EVERY = sorted(
    {*SERVICES_WITHOUT_NETWORK, *(name for members in MEMBERS.values() for name in members)}
)


def find_violations(composition: Composition) -> list[str]:
    return list(networks.find_violations(composition))


def test_services_are_in_their_networks(composition: Composition) -> None:
    assert find_violations(composition) == []
    assert set(composition.services) == set(EVERY)


def test_service_in_a_wrong_network_is_found(composition: Composition) -> None:
    """Each service is added to the networks of others and removed from its own."""
    for name, network in product(EVERY, [*MEMBERS, "default"]):
        original_networks = composition.services[name].get("networks", [])
        if network in original_networks:
            networks, finding = [one for one in original_networks if one != network], "has to be in"
        else:
            networks, finding = [*original_networks, network], "must not be in"
        all_findings = _find_violations_with_networks(composition, name, networks=networks)
        assert f"{name}: {finding} the network {network}" in all_findings


def test_service_without_a_network_is_found(composition: Composition) -> None:
    """It would be in the default network."""
    for name in EVERY:
        all_findings = _find_violations_with_networks(composition, name)
        assert f"{name}: must not be in the network default" in all_findings


def test_service_that_a_tool_could_reach_is_found(composition: Composition) -> None:
    for name in {*EVERY} - MEMBERS["pilots"]:
        assert f"a tool reaches {name}" in _find_violations_with_networks(
            composition, name, networks=["pilots"]
        )


def _find_violations_with_networks(
    composition: Composition, name: str, **networks: list[str]
) -> list[str]:
    """Return the findings for other networks of one service."""
    service = composition.services[name]
    other = {key: part for key, part in service.items() if not key.startswith("network")}
    composition.services[name] = other | networks
    all_findings = find_violations(composition)
    composition.services[name] = service
    return all_findings


@pytest.mark.parametrize(
    ("file", "before", "after", "finding"),
    [
        (
            FILE,
            "  pilots:\n    internal: true\n",
            "  pilots:\n",
            "network pilots: all but edge are internal",
        ),
        (
            FILE,
            "  data:\n    internal: true\n",
            "  data:\n    internal: false\n",
            "network data: all but edge are internal",
        ),
        (
            FILE,
            "    networks:\n      - edge\n      - services\n      - data\n",
            "    networks:\n      - services\n      - data\n",
            "operator: its ports lead nowhere",
        ),
        (FILE, "  edge:\n  #", "  outside:\n  #", "the networks are ['data', 'outside'"),
        (PILOT, "http://gateway:8090", "http://wms:8082", "pilot: looks for wms, and is in no"),
        (
            "deploy/prometheus/prometheus.yml",
            "intake:8085",
            "rabbitmq:15692",
            "prometheus: looks for rabbitmq, and is in no",
        ),
        (
            "deploy/gateway/nginx.conf",
            "set $wms wms:8082",
            "set $wms postgres:5432",
            "gateway: looks for postgres, and is in no",
        ),
        (
            FILE,
            "  watcher:\n",
            "  newcomer:\n    image: postgres:18\n  watcher:\n",
            "newcomer: nothing says which networks it may be in",
        ),
    ],
)
def test_wrong_address_or_network_is_found(
    composition: Composition, file: str, before: str, after: str, finding: str
) -> None:
    replace_text(composition.root / file, before, after)
    all_findings = find_violations(composition)
    assert any(finding in one for one in all_findings), all_findings
