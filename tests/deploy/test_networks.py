"""Each service is in its networks, a tool reaches only the gateway, and rules find violations."""

import pytest

from tests.deploy import networks
from tests.deploy.composition import Composition
from tests.deploy.networks import ALONE, MEMBERS
from tests.deploy.test_compose import FILE, PILOT, change

EVERY = sorted({*ALONE, *(name for members in MEMBERS.values() for name in members)})


def findings(composition: Composition) -> list[str]:
    return list(networks.findings(composition))


def test_services_are_in_their_networks(composition: Composition) -> None:
    assert findings(composition) == []
    assert set(composition.services) == set(EVERY)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("network", [*MEMBERS, "default"])
def test_service_in_a_wrong_network_is_found(
    composition: Composition, name: str, network: str
) -> None:
    """Each service is added to the networks of others and removed from its own."""
    service = composition.services[name]
    service.pop("network_mode", None)
    had = service.get("networks", [])
    service["networks"] = [one for one in had if one != network]
    if network not in had:
        service["networks"].append(network)
        assert f"{name}: must not be in the network {network}" in findings(composition)
    else:
        assert f"{name}: has to be in the network {network}" in findings(composition)


@pytest.mark.parametrize("name", EVERY)
def test_service_without_a_network_is_found(composition: Composition, name: str) -> None:
    """It would be in the default network."""
    composition.services[name].pop("network_mode", None)
    composition.services[name].pop("networks", None)
    assert f"{name}: must not be in the network default" in findings(composition)


@pytest.mark.parametrize("name", sorted({*EVERY} - MEMBERS["pilots"]))
def test_service_that_a_tool_could_reach_is_found(composition: Composition, name: str) -> None:
    composition.services[name].pop("network_mode", None)
    composition.services[name]["networks"] = ["pilots"]
    assert f"a tool reaches {name}" in findings(composition)


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
    change(composition.root / file, before, after)
    found = findings(composition)
    assert any(finding in one for one in found), found
