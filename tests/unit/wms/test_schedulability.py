"""Reasons why a job will never find a node."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.common.states import ContainerEngine, DeviceType, SandboxKind
from sluice.contracts.jobs.needs import Container, ContainerImage, Needs, Resources
from sluice.contracts.pilots.nodes import NodeResources
from wms.domain.scheduling.matching import Demand, PilotNode
from wms.domain.scheduling.schedulability import NodeSupply, explain_unschedulable


def make_node(
    cores: float = 2, ram: int = 1000, gpus: int = 0, engines: Sequence[ContainerEngine] = ()
) -> PilotNode:
    return PilotNode(NodeResources(cores=cores, ram=ram, disk=1000, gpus=["A"] * gpus), engines)


def make_demand(
    cores: float = 1,
    ram: int = 100,
    *,
    gpu: bool = False,
    container: bool = False,
    sandbox: bool = False,
    waited: float = 60.0,
) -> Demand:
    needs = Needs(
        resources=Resources(cores=cores, ram=ram, disk=100),
        device_type=DeviceType.GPU if gpu else DeviceType.CPU,
        container=Container(images=[ContainerImage(name="debian:12")]) if container else None,
        sandbox=sandbox,
    )
    return Demand(UUID(int=1), 1.0, datetime(2026, 1, 1, tzinfo=UTC), 5, needs, waited=waited)


def explain_demand(
    job_demand: Demand,
    *present: PilotNode,
    launchable: Sequence[PilotNode] | None = None,
    newest: float = 60.0,
) -> str | None:
    return explain_unschedulable(job_demand, NodeSupply(present, newest, launchable, grace=30.0))


@pytest.mark.parametrize(
    ("job_demand", "sentence"),
    [
        (
            make_demand(3),
            "no node fits: a job needs 3 cores, the node has 2 (this is the only pilot)",
        ),
        (
            make_demand(ram=1001),
            (
                "no node fits: a job needs 1001 MiB of memory, the node has 1000 (this is the only"
                " pilot)"
            ),
        ),
        (
            make_demand(gpu=True),
            "no node fits: a job needs a GPU, the node has none (this is the only pilot)",
        ),
        (
            make_demand(container=True),
            (
                "no node fits: a job needs a container, and the only pilot has none of Docker,"
                " Podman, Apptainer or udocker"
            ),
        ),
        (
            make_demand(sandbox=True),
            ("no node fits: a job needs a sandbox (bubblewrap), and the only pilot has none"),
        ),
        (make_demand(2), None),
    ],
)
def test_reason_names_the_request_that_no_node_meets(
    job_demand: Demand, sentence: str | None
) -> None:
    assert explain_demand(job_demand, make_node()) == sentence


def test_reason_names_a_missing_sandbox() -> None:
    engine = replace(make_node(), engines=[ContainerEngine.PODMAN])
    sandbox = replace(make_node(), sandbox=SandboxKind.NAMESPACES)
    assert explain_demand(
        make_demand(sandbox=True), make_node(), engine, launchable=[make_node()]
    ) == (
        "no node fits: a job needs a sandbox (bubblewrap), and none of the 3 pilots has one; nor"
        " does one that can be launched"
    )
    assert explain_demand(make_demand(3, sandbox=True), make_node(4), sandbox) == (
        "no node fits: a job needs 3 cores, the node has 2 (this is the largest of 2 pilots)"
    )
    assert explain_demand(make_demand(sandbox=True, container=True), engine, sandbox) == (
        "no node fits: a job needs a container and a sandbox (bubblewrap), and no pilot has both"
    )
    assert explain_demand(make_demand(sandbox=True), make_node(), launchable=[sandbox]) is None


def test_no_reason_is_given_while_a_fitting_node_may_still_come() -> None:
    assert explain_demand(make_demand(3)) is None
    assert explain_demand(make_demand(3, waited=29.0), make_node()) is None
    assert explain_demand(make_demand(3), make_node(), newest=29.0) is None
    assert explain_demand(make_demand(3), make_node(), make_node(4)) is None
    assert explain_demand(make_demand(3), make_node(), launchable=[make_node(4)]) is None
    assert explain_demand(make_demand(3), launchable=[make_node(4)]) is None


def test_nodes_that_can_be_launched_count() -> None:
    assert explain_demand(make_demand(3), make_node(), launchable=[]) is not None
    assert explain_demand(make_demand(5), make_node(), launchable=[make_node(4)]) == (
        "no node fits: a job needs 5 cores, the node has 4 (this is the largest of 2 pilots);"
        " nor does one that can be launched"
    )
    assert explain_demand(make_demand(5), launchable=[make_node(4)]) is not None
    assert explain_demand(make_demand(5, waited=1.0), launchable=[make_node(4)]) is None
