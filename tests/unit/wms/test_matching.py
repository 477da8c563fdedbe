"""Matching of jobs and pilots."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.states import ContainerEngine, DeviceType, SandboxKind
from sluice.contracts.jobs.needs import Container, ContainerImage, Needs, Resources, Warm
from sluice.contracts.pilots.nodes import NodeResources
from wms.domain.scheduling.limits import Limit
from wms.domain.scheduling.matching import (
    WARM_RANK_BONUS,
    Demand,
    PilotNode,
    filter_runnable,
    sort_demands,
)

NODE = PilotNode(NodeResources(cores=2, ram=1000, disk=1000))
START = datetime(2026, 1, 1, tzinfo=UTC)


def make_demand(
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


def replace_needs(base: Demand, **changes: object) -> Demand:
    return replace(base, needs=base.needs.model_copy(update=changes))


def test_demands_are_ordered_by_rank_and_then_by_age() -> None:
    demands = [make_demand(3), make_demand(1), make_demand(2, rank=2.0)]
    assert [runnable.uid.int for runnable in sort_demands(filter_runnable(demands, NODE))] == [
        2,
        1,
        3,
    ]


def test_demand_that_does_not_fit_the_node_is_skipped() -> None:
    demands = [
        make_demand(1, cores=4),
        make_demand(2, ram=2000),
        make_demand(3, gpu=True),
        make_demand(4),
    ]
    assert [runnable.uid.int for runnable in sort_demands(filter_runnable(demands, NODE))] == [4]
    assert str(demands[0].find_misfit(NODE)) == "needs 4 cores, the node has 2"
    assert str(demands[1].find_misfit(NODE)) == "needs 2000 MiB of memory, the node has 1000"
    assert (
        str(replace_needs(demands[3], resources=Resources(disk=90_000_000)).find_misfit(NODE))
        == "needs 90000000 MiB of disk, the node has 1000"
    )
    assert str(demands[2].find_misfit(NODE)) == "needs a GPU, the node has none"
    assert (
        demands[2].find_misfit(
            replace(NODE, resources=NODE.resources.model_copy(update={"gpus": ["H200"]}))
        )
        is None
    )


def test_named_resource_must_be_available_on_the_node() -> None:
    request = replace_needs(make_demand(1), named={"licence": 2})
    offering = replace(NODE, resources=NODE.resources.model_copy(update={"named": {"licence": 1}}))
    assert str(request.find_misfit(NODE)) == "needs 2 licence, the node has none"
    assert str(request.find_misfit(offering)) == "needs 2 licence, the node has 1"
    assert replace_needs(request, named={"licence": 0.5}).find_misfit(offering) is None


def test_resource_with_a_global_limit_need_not_be_on_the_node() -> None:
    limit = Limit("licence", 4)
    request = replace(
        replace_needs(make_demand(1), named={"licence": 2}), limits={"licence": limit}
    )
    offering = replace(NODE, resources=NODE.resources.model_copy(update={"named": {"licence": 1}}))
    assert request.find_misfit(NODE) is None
    assert str(request.find_misfit(offering)) == "needs 2 licence, the node has 1", (
        "the node's own amount applies"
    )
    assert str(replace_needs(request, named={"licence": 5}).find_misfit(NODE)) == (
        "needs 5 licence, the limit is 4 at a time"
    )


def test_job_goes_to_nodes_with_a_requested_label() -> None:
    request = replace_needs(make_demand(1), nodes={"site": ["prague", "brno"]})
    labels = {"site": "ostrava"}
    labelled = replace(NODE, resources=NODE.resources.model_copy(update={"labels": labels}))
    assert (
        str(request.find_misfit(NODE))
        == "needs a node with site prague or brno, the node has no site"
    )
    assert (
        str(request.find_misfit(labelled))
        == "needs a node with site prague or brno, the node has ostrava"
    )
    labels["site"] = "brno"
    assert request.find_misfit(labelled) is None


def test_default_disk_request_excludes_no_node() -> None:
    small = replace(NODE, resources=NODE.resources.model_copy(update={"disk": 10}))
    assert replace_needs(make_demand(1), resources=Resources()).find_misfit(small) is None
    request = replace_needs(make_demand(1), resources=Resources(disk=11))
    assert str(request.find_misfit(small)) == "needs 11 MiB of disk, the node has 10"


def test_job_with_a_container_goes_to_a_node_with_a_container_engine() -> None:
    image = Container(images=[ContainerImage(name="debian:12")])
    request = replace_needs(make_demand(1), container=image)
    assert (
        str(request.find_misfit(NODE))
        == "needs a container, the node has none of Docker, Podman, Apptainer or udocker"
    )
    assert sort_demands(filter_runnable([request, make_demand(2)], NODE)) == [make_demand(2)]
    for engine in ContainerEngine:
        assert request.find_misfit(replace(NODE, engines=[engine])) is None


def test_job_with_a_sandbox_goes_to_a_node_with_a_sandbox() -> None:
    request = replace_needs(make_demand(1), sandbox=True)
    hint = Container(images=[ContainerImage(name="debian:12")], required=False)
    engine = replace(NODE, engines=[ContainerEngine.PODMAN])
    sandbox = replace(NODE, sandbox=SandboxKind.NAMESPACES)
    assert str(request.find_misfit(NODE)) == "needs a sandbox (bubblewrap), the node has none"
    secret = replace_needs(request, secrets={"key": SecretRef(name="a")})
    assert (
        str(secret.find_misfit(NODE))
        == "needs a sandbox (bubblewrap) for its secrets, the node has none"
    )
    assert str(request.find_misfit(replace(NODE, sandbox=SandboxKind.USERS))) == (
        "needs a sandbox (bubblewrap), the node has only a user for each slot, which is not a"
        " sandbox"
    )
    assert replace_needs(request, container=hint).find_misfit(engine) == request.find_misfit(NODE)
    assert replace_needs(request, container=hint).find_misfit(sandbox) is None
    assert sort_demands(filter_runnable([request, make_demand(2)], NODE)) == [make_demand(2)]
    assert sort_demands(filter_runnable([request, make_demand(2)], sandbox)) == [
        request,
        make_demand(2),
    ]


def test_job_with_container_and_sandbox_goes_to_a_node_with_both() -> None:
    image = Container(images=[ContainerImage(name="debian:12")])
    request = replace_needs(make_demand(1), sandbox=True, container=image)
    both = replace(NODE, engines=[ContainerEngine.PODMAN], sandbox=SandboxKind.NAMESPACES)
    assert request.find_misfit(both) is None
    assert request.find_misfit(replace(both, engines=[])) is not None
    assert request.find_misfit(replace(both, sandbox=SandboxKind.NONE)) is not None


def test_preferred_kind_goes_first_unless_another_kind_has_a_higher_rank() -> None:
    a, b, c = (Warm(kind=kind) for kind in "abc")
    ranked = make_demand(4, rank=1.0 + WARM_RANK_BONUS + 0.01)
    demands = [
        replace_needs(make_demand(1), warm=a),
        replace_needs(make_demand(2), warm=b),
        make_demand(3),
    ]
    demands.append(replace_needs(ranked, warm=c))
    assert [runnable.uid.int for runnable in sort_demands(filter_runnable(demands, NODE))] == [
        4,
        1,
        2,
        3,
    ]
    assert [
        runnable.uid.int for runnable in sort_demands(filter_runnable(demands, NODE), ["b"])
    ] == [
        4,
        2,
        1,
        3,
    ]
