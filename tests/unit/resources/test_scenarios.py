"""Scheduling scenarios of a batch system, in simulated time."""

from collections import Counter
from typing import Any

import pytest

from sluice.contracts.jobs.gpus import Gpu, GpuNeeds
from sluice.contracts.jobs.limits import LimitPeriod
from tests.unit.gpus import gpu
from tests.unit.resources.world import World
from wms.domain.explanations import explain_no_fit
from wms.domain.scheduling.capacity import RESERVATION_DELAY_SECONDS
from wms.domain.scheduling.matching import PilotNode


@pytest.fixture
def world() -> World:
    return World()


def on_gpu(**needs: Any) -> dict[str, Any]:
    return {"device_type": "gpu", "gpu": GpuNeeds.model_validate(needs)}


def resources(**amounts: Any) -> dict[str, Any]:
    return {"resources": amounts}


def with_gpus(*devices: Gpu) -> dict[str, Any]:
    return {"devices": list(devices), "gpus": [device.name for device in devices]}


def test_memory_limits_concurrent_jobs(world: World) -> None:
    world.node("n", ram=8_000)
    world.work("w", 3, **resources(ram=4_000))
    world.run_dry(60)
    assert world.started("w") == [0, 0, 10]


def test_fractions_of_a_core_add_up(world: World) -> None:
    world.node("n", cores=2, ram=100_000)
    world.work("w", 25, **resources(cores=0.1))
    world.run_dry(60)
    assert Counter(world.started("w")) == {0: 20, 10: 5}


def test_whole_gpu_and_shared_gpu_are_different_devices(world: World) -> None:
    world.node("n", **with_gpus(gpu("GPU-0"), gpu("GPU-1")))
    world.work("whole", 1, rank=2.0, **on_gpu())
    world.work("half", 3, **on_gpu(share=0.5))
    world.run_dry(60)
    assert (world.started("whole"), world.started("half")) == ([0], [0, 0, 10])
    used = {start.work: start.gpus for start in world.starts if start.tick == 0}
    assert set(used["whole"]).isdisjoint(used["half"])


def test_shares_of_a_gpu_are_limited_by_its_memory(world: World) -> None:
    world.node("n", **with_gpus(gpu("GPU-0", memory=16_000)))
    world.work("w", 4, **on_gpu(share=0.25, memory=5_000))
    world.run_dry(60)
    assert world.started("w") == [0, 0, 0, 10]


def test_job_that_ran_out_of_gpu_memory_gets_a_larger_gpu(world: World) -> None:
    world.node("small", **with_gpus(gpu("GPU-0", memory=8_000)))
    world.node("large", **with_gpus(gpu("GPU-1", memory=24_000)))
    work = world.work("w", 3, uses_gpu=12_000, **on_gpu())
    world.run_dry(120)
    assert (work.done, work.failed) == (3, [])
    met = Counter(start.node for start in world.starts)
    assert met["large"] == 3, "each job must have ended on the large GPU"
    assert met["small"] == len(world.starts) - 3 > 0, "no job may go back to the small GPU"
    world.check_released()


def test_job_that_needs_more_than_the_largest_gpu_fails_with_a_reason(world: World) -> None:
    world.node("small", **with_gpus(gpu("GPU-0", memory=8_000)))
    world.node("old", **with_gpus(gpu("GPU-1", memory=80_000, capability="3.5")))
    work = world.work("w", 1, uses_gpu=12_000, **on_gpu(capability="8.0"))
    world.run_dry(60)
    assert work.done == 0
    assert work.failed == [
        "not tried again: no node that could run it has a GPU with more than 8000 MiB of memory,"
        " which it had (the largest GPU has 8000 MiB)"
    ]
    world.check_released()


def test_gpu_memory_request_grows_up_to_the_whole_gpu(world: World) -> None:
    world.node("n", **with_gpus(gpu("GPU-0", memory=16_000)))
    fits = world.work("fits", 1, uses_gpu=9_000, **on_gpu(share=0.25, memory=5_000))
    world.run_dry(120)
    assert (fits.done, world.started("fits")) == (1, [0, 10, 20]), (
        "requests of 5 000, 7 500, 11 250 MiB"
    )
    never = world.work("never", 1, uses_gpu=20_000, **on_gpu(share=0.25, memory=10_000))
    world.run_dry(120)
    assert (never.done, len(world.started("never"))) == (0, 3), (
        "requests of 10 000, 15 000, 16 000 MiB"
    )
    assert "more than 16000 MiB" in never.failed[0]
    world.check_released()


def test_job_with_a_range_of_gpus_takes_as_many_as_are_free(world: World) -> None:
    world.node("n", **with_gpus(*(gpu(f"GPU-{number}") for number in range(3))))
    world.work("wide", 1, rank=2.0, **on_gpu(least=1, most=4))
    world.work("narrow", 1, **on_gpu())
    world.run_dry(60)
    assert [(start.tick, start.work, len(start.gpus)) for start in world.starts] == [
        (0, "wide", 3),
        (10, "narrow", 1),
    ]


def test_mig_instances_are_devices(world: World) -> None:
    instances = [gpu(f"MIG-{number}", memory=9_856) for number in range(7)]
    node = world.node("n", cores=64, **with_gpus(*instances))
    world.work("w", 8, **on_gpu(memory=9_000))
    large = world.work("large", 1, **on_gpu(memory=20_000))
    world.run(60)
    assert Counter(world.started("w")) == {0: 7, 10: 1}
    assert len({start.gpus for start in world.starts if start.tick == 0}) == 7
    assert world.started("large") == []
    assert str(large.demand(60, {}).find_misfit(PilotNode(node.resources))) == (
        "needs a GPU with 20000 MiB of memory, the node has 9856"
    )


def test_large_job_starts_in_spite_of_a_stream_of_small_jobs(world: World) -> None:
    """The large job is older and comes first, but by chance it never has enough capacity."""
    world.node("n", cores=8)
    for number in range(4):
        world.work("small", 1, seconds=5 + number, **resources(cores=2))
    world.run(1)
    world.work("big", 1, rank=2.0, **resources(cores=8))
    for _ in range(100):
        world.work("small", 1, seconds=7, rank=1.0, **resources(cores=2))
        world.run(1)
    [at] = world.started("big")
    assert RESERVATION_DELAY_SECONDS < at <= 1 + RESERVATION_DELAY_SECONDS + 1 + 7 + 1
    world.run_dry(600)


def test_large_jobs_of_several_kinds_get_their_turn(world: World) -> None:
    world.node("a", cores=8, **with_gpus(gpu("GPU-0"), gpu("GPU-1")))
    world.node("b", cores=8, named={"licence": 4})
    world.work("small", 400, seconds=5, **resources(cores=1))
    world.work("gpus", 1, **resources(cores=6), **on_gpu(least=2, most=2))
    world.work("licences", 1, named={"licence": 4}, **resources(cores=7))
    world.work("cores", 2, **resources(cores=8))
    world.run_dry(1200)
    assert max(world.started("gpus") + world.started("licences")) < 90
    assert max(world.started("cores")) < 200


def test_amounts_of_a_killed_pilot_count_until_its_leases_end(world: World) -> None:
    world.limit("licence", 4)
    dead, _ = world.node("dead", cores=2), world.node("alive", cores=8)
    world.work("w", 6, seconds=100, named={"licence": 1})
    world.run(5)
    assert Counter(start.node for start in world.starts) == {"dead": 2, "alive": 2}
    world.kill(dead)
    world.run(59)
    assert len(world.starts) == 4, "the amounts count as long as the jobs may run"
    world.run(3)
    assert Counter(start.node for start in world.starts) == {"dead": 2, "alive": 4}
    world.run_dry(400)
    assert sum(work.done for work in world.works) == 6


def test_jobs_run_only_on_nodes_with_their_labels(world: World) -> None:
    world.node("brno", labels={"site": "brno"})
    world.node("prague", cores=2, labels={"site": "prague"})
    world.work("w", 4, nodes={"site": ["prague"]})
    world.work("any", 4, nodes={"site": ["prague", "brno"]})
    world.run_dry(60)
    assert {start.node for start in world.starts if start.work == "w"} == {"prague"}
    assert world.started("w") == [0, 0, 10, 10]


def test_fractions_of_a_named_resource_add_up(world: World) -> None:
    world.node("n", named={"licence": 2})
    world.node("none")
    world.work("half", 5, named={"licence": 0.5})
    world.run_dry(60)
    assert world.started("half") == [0, 0, 0, 0, 10]
    assert {start.node for start in world.starts} == {"n"}


def test_quota_is_renewed_at_the_hour_and_at_midnight() -> None:
    world = World(look=10.0)
    world.node("n")
    world.limit("places", 5, LimitPeriod.DAY)
    world.work("day", 8, seconds=1, named={"places": 1})
    world.run(1800)
    world.limit("calls", 3, LimitPeriod.HOUR)
    world.work("hour", 4, seconds=1, named={"calls": 1})
    world.run(5500)
    assert Counter(world.started("hour")) == {1800: 3, 3600: 1}
    assert Counter(world.started("day")) == {0: 5, 7200: 3}, "the time runs from 22:00 to midnight"


def test_disk_is_allocated_only_to_jobs_that_request_it(world: World) -> None:
    world.node("n", disk=1_000)
    world.work("asks", 3, **resources(disk=400))
    world.work("does not", 4)
    world.run_dry(60)
    assert world.started("asks") == [0, 0, 10]
    assert world.started("does not") == [0, 0, 0, 0]


def test_lowered_limit_applies_as_running_jobs_end(world: World) -> None:
    world.node("n", cores=64, ram=64_000)
    world.limit("licence", 6)
    world.work("w", 10, seconds=20, named={"licence": 1})
    world.run(10)
    world.limit("licence", 2)
    world.run(15)
    assert Counter(world.started("w")) == {0: 6, 20: 2}
    world.limit("licence", 3)
    world.run(2)
    assert Counter(world.started("w")) == {0: 6, 20: 2, 25: 1}
    world.run_dry(60)
    world.check_released()


def test_job_with_a_large_amount_starts_in_spite_of_small_amounts(world: World) -> None:
    world.limit("licence", 4)
    world.node("a"), world.node("b")
    for number in range(4):
        world.work("little", 1, seconds=5 + number, named={"licence": 1})
    world.run(1)
    world.work("much", 1, rank=2.0, named={"licence": 4})
    for _ in range(100):
        world.work("little", 1, seconds=7, named={"licence": 1})
        world.run(1)
    [at] = world.started("much")
    assert RESERVATION_DELAY_SECONDS < at <= 1 + RESERVATION_DELAY_SECONDS + 1 + 7 + 2
    world.run_dry(1000)


def test_reason_names_requests_that_no_node_can_meet(world: World) -> None:
    small_nodes = [world.node("one", cores=4), world.node("two", cores=2)]
    large_node = world.node("three", cores=8, named={"licence": 1})
    work = world.work("w", 1, named={"licence": 2}, **resources(cores=6))
    world.run(100)
    assert world.starts == []
    nodes = [PilotNode(node.resources) for node in (*small_nodes, large_node)]
    assert explain_no_fit(work.demand(100, {}), nodes) == (
        "needs 2 licence, the node has 1 (this is the largest of 3 pilots; 2 others: needs 6 cores,"
        " the node has 4)"
    )
