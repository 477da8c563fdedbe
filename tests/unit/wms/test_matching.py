"""Which tasks' jobs a pilot gets."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sluice.contracts.needs import Container, ContainerImage, Needs, Resources, Warm
from sluice.contracts.pilots import NodeResources
from sluice.contracts.secrets import SecretRef
from sluice.contracts.states import ContainerEngine, DeviceType, SandboxKind
from wms.domain.limits import Limit
from wms.domain.matching import SWITCH, Demand, PilotNode, fitting, misfit, order

NODE = PilotNode(NodeResources(cores=2, ram=1000, disk=1000))
START = datetime(2026, 1, 1, tzinfo=UTC)


def demand(
    number: int,
    *,
    rank: float = 1.0,
    ready: int = 5,
    cores: float = 1,
    ram: int = 100,
    gpu: bool = False,
) -> Demand:
    needs = Needs(
        resources=Resources(cores=cores, ram=ram, disk=100),
        device_type=DeviceType.GPU if gpu else DeviceType.CPU,
    )
    return Demand(UUID(int=number), rank, START + timedelta(seconds=number), ready, needs)


def needing(base: Demand, **changes: object) -> Demand:
    return replace(base, needs=base.needs.model_copy(update=changes))


def test_highest_rank_then_oldest() -> None:
    asked = [demand(3), demand(1), demand(2, rank=2.0)]
    assert [found.uid.int for found in order(fitting(asked, NODE))] == [2, 1, 3]


def test_what_does_not_fit_is_passed_over() -> None:
    asked = [demand(1, cores=4), demand(2, ram=2000), demand(3, gpu=True), demand(4)]
    assert [found.uid.int for found in order(fitting(asked, NODE))] == [4]
    assert misfit(asked[0], NODE) == "needs 4 cores, the node has 2"
    assert misfit(asked[1], NODE) == "needs 2000 MiB of memory, the node has 1000"
    assert (
        misfit(needing(asked[3], resources=Resources(disk=90_000_000)), NODE)
        == "needs 90000000 MiB of disk, the node has 1000"
    )
    assert misfit(asked[2], NODE) == "needs a GPU, the node has none"
    assert (
        misfit(
            asked[2], replace(NODE, resources=NODE.resources.model_copy(update={"gpus": ["H200"]}))
        )
        is None
    )


def test_a_job_that_needs_a_named_resource_goes_where_there_is_enough() -> None:
    asked = needing(demand(1), named={"licence": 2})
    offering = replace(NODE, resources=NODE.resources.model_copy(update={"named": {"licence": 1}}))
    assert misfit(asked, NODE) == "needs 2 licence, the node has none"
    assert misfit(asked, offering) == "needs 2 licence, the node has 1"
    assert misfit(needing(asked, named={"licence": 0.5}), offering) is None


def test_what_has_a_limit_over_all_nodes_need_not_be_on_the_node() -> None:
    limit = Limit("licence", 4)
    asked = replace(needing(demand(1), named={"licence": 2}), limits={"licence": limit})
    offering = replace(NODE, resources=NODE.resources.model_copy(update={"named": {"licence": 1}}))
    assert misfit(asked, NODE) is None
    assert misfit(asked, offering) == "needs 2 licence, the node has 1", "what it says, it has"
    assert misfit(needing(asked, named={"licence": 5}), NODE) == (
        "needs 5 licence, the limit is 4 at a time"
    )


def test_a_job_goes_to_nodes_with_one_of_the_labels_that_it_wants() -> None:
    asked = needing(demand(1), nodes={"site": ["prague", "brno"]})
    labels = {"site": "ostrava"}
    labelled = replace(NODE, resources=NODE.resources.model_copy(update={"labels": labels}))
    assert misfit(asked, NODE) == "needs a node with site prague or brno, the node has no site"
    assert misfit(asked, labelled) == "needs a node with site prague or brno, the node has ostrava"
    labels["site"] = "brno"
    assert misfit(asked, labelled) is None


def test_disk_that_nobody_asked_for_keeps_no_job_away() -> None:
    small = replace(NODE, resources=NODE.resources.model_copy(update={"disk": 10}))
    assert misfit(needing(demand(1), resources=Resources()), small) is None
    asked = needing(demand(1), resources=Resources(disk=11))
    assert misfit(asked, small) == "needs 11 MiB of disk, the node has 10"


def test_a_job_that_needs_a_container_goes_where_one_can_run() -> None:
    image = Container(images=[ContainerImage(name="debian:12")])
    asked = needing(demand(1), container=image)
    assert (
        misfit(asked, NODE)
        == "needs a container, the node has none of Docker, Podman, Apptainer or udocker"
    )
    assert order(fitting([asked, demand(2)], NODE)) == [demand(2)]
    for engine in ContainerEngine:
        assert misfit(asked, replace(NODE, engines=[engine])) is None


def test_a_job_that_needs_a_sandbox_goes_where_one_is() -> None:
    asked = needing(demand(1), sandbox=True)
    hint = Container(images=[ContainerImage(name="debian:12")], required=False)
    engine = replace(NODE, engines=[ContainerEngine.PODMAN])
    sandbox = replace(NODE, sandbox=SandboxKind.NAMESPACES)
    assert misfit(asked, NODE) == "needs a sandbox (bubblewrap), the node has none"
    secret = needing(asked, secrets={"key": SecretRef(name="a")})
    assert misfit(secret, NODE) == "needs a sandbox (bubblewrap) for its secrets, the node has none"
    assert misfit(asked, replace(NODE, sandbox=SandboxKind.USERS)) == (
        "needs a sandbox (bubblewrap), the node has only a user for each slot, which is none"
    )
    assert misfit(needing(asked, container=hint), engine) == misfit(asked, NODE)
    assert misfit(needing(asked, container=hint), sandbox) is None
    assert order(fitting([asked, demand(2)], NODE)) == [demand(2)]
    assert order(fitting([asked, demand(2)], sandbox)) == [asked, demand(2)]


def test_a_job_that_needs_a_container_and_a_sandbox_goes_where_both_are() -> None:
    image = Container(images=[ContainerImage(name="debian:12")])
    asked = needing(demand(1), sandbox=True, container=image)
    both = replace(NODE, engines=[ContainerEngine.PODMAN], sandbox=SandboxKind.NAMESPACES)
    assert misfit(asked, both) is None
    assert misfit(asked, replace(both, engines=[])) is not None
    assert misfit(asked, replace(both, sandbox=SandboxKind.NONE)) is not None


def test_the_kind_that_was_chosen_goes_first_unless_another_is_ranked_higher() -> None:
    a, b, c = (Warm(kind=kind) for kind in "abc")
    ranked = demand(4, rank=1.0 + SWITCH + 0.01)
    asked = [needing(demand(1), warm=a), needing(demand(2), warm=b), demand(3)]
    asked.append(needing(ranked, warm=c))
    assert [found.uid.int for found in order(fitting(asked, NODE))] == [4, 1, 2, 3]
    assert [found.uid.int for found in order(fitting(asked, NODE), ["b"])] == [4, 2, 1, 3]
