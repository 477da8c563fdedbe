"""Scheduling scenarios of a batch system, in simulated time."""

from collections import Counter
from typing import Any

import pytest

from sluice.contracts.jobs.gpus import Gpu, GpuNeeds
from sluice.contracts.jobs.limits import LimitPeriod
from tests.unit.gpus import make_gpu
from tests.unit.resources.simulated_system import SimulatedSystem
from wms.domain.explanations import explain_no_fit
from wms.domain.scheduling.capacity import RESERVATION_DELAY_SECONDS
from wms.domain.scheduling.matching import PilotNode


@pytest.fixture
def system() -> SimulatedSystem:
    return SimulatedSystem()


def request_gpus(**needs: Any) -> dict[str, Any]:
    return {"device_type": "gpu", "gpu": GpuNeeds.model_validate(needs)}


def make_resources(**amounts: Any) -> dict[str, Any]:
    return {"resources": amounts}


def offer_gpus(*devices: Gpu) -> dict[str, Any]:
    return {"devices": list(devices), "gpus": [device.name for device in devices]}


def test_memory_limits_concurrent_jobs(system: SimulatedSystem) -> None:
    system.add_node("n", ram=8_000)
    system.add_task("w", 3, **make_resources(ram=4_000))
    system.run_until_done(60)
    assert system.list_start_times("w") == [0, 0, 10]


def test_fractions_of_a_core_add_up(system: SimulatedSystem) -> None:
    system.add_node("n", cores=2, ram=100_000)
    system.add_task("w", 25, **make_resources(cores=0.1))
    system.run_until_done(60)
    assert Counter(system.list_start_times("w")) == {0: 20, 10: 5}


def test_whole_gpu_and_shared_gpu_are_different_devices(system: SimulatedSystem) -> None:
    system.add_node("n", **offer_gpus(make_gpu("GPU-0"), make_gpu("GPU-1")))
    system.add_task("whole", 1, rank=2.0, **request_gpus())
    system.add_task("half", 3, **request_gpus(share=0.5))
    system.run_until_done(60)
    assert (system.list_start_times("whole"), system.list_start_times("half")) == ([0], [0, 0, 10])
    used = {start.task: start.gpus for start in system.started_jobs if start.time == 0}
    assert set(used["whole"]).isdisjoint(used["half"])


def test_shares_of_a_gpu_are_limited_by_its_memory(system: SimulatedSystem) -> None:
    system.add_node("n", **offer_gpus(make_gpu("GPU-0", memory=16_000)))
    system.add_task("w", 4, **request_gpus(share=0.25, memory=5_000))
    system.run_until_done(60)
    assert system.list_start_times("w") == [0, 0, 0, 10]


def test_job_that_ran_out_of_gpu_memory_gets_a_larger_gpu(system: SimulatedSystem) -> None:
    system.add_node("small", **offer_gpus(make_gpu("GPU-0", memory=8_000)))
    system.add_node("large", **offer_gpus(make_gpu("GPU-1", memory=24_000)))
    task = system.add_task("w", 3, uses_gpu=12_000, **request_gpus())
    system.run_until_done(120)
    assert (task.finished_jobs, task.failure_reasons) == (3, [])
    met = Counter(start.node for start in system.started_jobs)
    assert met["large"] == 3, "each job must have ended on the large GPU"
    assert met["small"] == len(system.started_jobs) - 3 > 0, "no job may go back to the small GPU"
    system.check_released()


def test_job_that_needs_more_than_the_largest_gpu_fails_with_a_reason(
    system: SimulatedSystem,
) -> None:
    system.add_node("small", **offer_gpus(make_gpu("GPU-0", memory=8_000)))
    system.add_node("old", **offer_gpus(make_gpu("GPU-1", memory=80_000, capability="3.5")))
    task = system.add_task("w", 1, uses_gpu=12_000, **request_gpus(capability="8.0"))
    system.run_until_done(60)
    assert task.finished_jobs == 0
    assert task.failure_reasons == [
        "not tried again: no node that could run it has a GPU with more than 8000 MiB of memory,"
        " which it had (the largest GPU has 8000 MiB)"
    ]
    system.check_released()


def test_gpu_memory_request_grows_up_to_the_whole_gpu(system: SimulatedSystem) -> None:
    system.add_node("n", **offer_gpus(make_gpu("GPU-0", memory=16_000)))
    fits = system.add_task("fits", 1, uses_gpu=9_000, **request_gpus(share=0.25, memory=5_000))
    system.run_until_done(120)
    assert (fits.finished_jobs, system.list_start_times("fits")) == (1, [0, 10, 20]), (
        "requests of 5 000, 7 500, 11 250 MiB"
    )
    never = system.add_task("never", 1, uses_gpu=20_000, **request_gpus(share=0.25, memory=10_000))
    system.run_until_done(120)
    assert (never.finished_jobs, len(system.list_start_times("never"))) == (0, 3), (
        "requests of 10 000, 15 000, 16 000 MiB"
    )
    assert "more than 16000 MiB" in never.failure_reasons[0]
    system.check_released()


def test_job_with_a_range_of_gpus_takes_as_many_as_are_free(system: SimulatedSystem) -> None:
    system.add_node("n", **offer_gpus(*(make_gpu(f"GPU-{number}") for number in range(3))))
    system.add_task("wide", 1, rank=2.0, **request_gpus(least=1, most=4))
    system.add_task("narrow", 1, **request_gpus())
    system.run_until_done(60)
    assert [(start.time, start.task, len(start.gpus)) for start in system.started_jobs] == [
        (0, "wide", 3),
        (10, "narrow", 1),
    ]


def test_mig_instances_are_devices(system: SimulatedSystem) -> None:
    instances = [make_gpu(f"MIG-{number}", memory=9_856) for number in range(7)]
    node = system.add_node("n", cores=64, **offer_gpus(*instances))
    system.add_task("w", 8, **request_gpus(memory=9_000))
    large = system.add_task("large", 1, **request_gpus(memory=20_000))
    system.run_for(60)
    assert Counter(system.list_start_times("w")) == {0: 7, 10: 1}
    assert len({start.gpus for start in system.started_jobs if start.time == 0}) == 7
    assert system.list_start_times("large") == []
    assert str(large.demand(60, {}).find_misfit(PilotNode(node.resources))) == (
        "needs a GPU with 20000 MiB of memory, the node has 9856"
    )


def test_large_job_starts_in_spite_of_a_stream_of_small_jobs(system: SimulatedSystem) -> None:
    """The large job is older and comes first, but by chance it never has enough capacity."""
    system.add_node("n", cores=8)
    for number in range(4):
        system.add_task("small", 1, seconds=5 + number, **make_resources(cores=2))
    system.run_for(1)
    system.add_task("big", 1, rank=2.0, **make_resources(cores=8))
    for _ in range(100):
        system.add_task("small", 1, seconds=7, rank=1.0, **make_resources(cores=2))
        system.run_for(1)
    [start_time] = system.list_start_times("big")
    assert RESERVATION_DELAY_SECONDS < start_time <= 1 + RESERVATION_DELAY_SECONDS + 1 + 7 + 1
    system.run_until_done(600)


def test_large_jobs_of_several_kinds_get_their_turn(system: SimulatedSystem) -> None:
    system.add_node("a", cores=8, **offer_gpus(make_gpu("GPU-0"), make_gpu("GPU-1")))
    system.add_node("b", cores=8, named={"licence": 4})
    system.add_task("small", 400, seconds=5, **make_resources(cores=1))
    system.add_task("gpus", 1, **make_resources(cores=6), **request_gpus(least=2, most=2))
    system.add_task("licences", 1, named={"licence": 4}, **make_resources(cores=7))
    system.add_task("cores", 2, **make_resources(cores=8))
    system.run_until_done(1200)
    assert max(system.list_start_times("gpus") + system.list_start_times("licences")) < 90
    assert max(system.list_start_times("cores")) < 200


def test_amounts_of_a_killed_pilot_count_until_its_leases_end(system: SimulatedSystem) -> None:
    system.add_limit("licence", 4)
    dead, _ = system.add_node("dead", cores=2), system.add_node("alive", cores=8)
    system.add_task("w", 6, seconds=100, named={"licence": 1})
    system.run_for(5)
    assert Counter(start.node for start in system.started_jobs) == {"dead": 2, "alive": 2}
    system.kill_node(dead)
    system.run_for(59)
    assert len(system.started_jobs) == 4, "the amounts count as long as the jobs may run"
    system.run_for(3)
    assert Counter(start.node for start in system.started_jobs) == {"dead": 2, "alive": 4}
    system.run_until_done(400)
    assert sum(task.finished_jobs for task in system.tasks) == 6


def test_jobs_run_only_on_nodes_with_their_labels(system: SimulatedSystem) -> None:
    system.add_node("brno", labels={"site": "brno"})
    system.add_node("prague", cores=2, labels={"site": "prague"})
    system.add_task("w", 4, nodes={"site": ["prague"]})
    system.add_task("any", 4, nodes={"site": ["prague", "brno"]})
    system.run_until_done(60)
    assert {start.node for start in system.started_jobs if start.task == "w"} == {"prague"}
    assert system.list_start_times("w") == [0, 0, 10, 10]


def test_fractions_of_a_named_resource_add_up(system: SimulatedSystem) -> None:
    system.add_node("n", named={"licence": 2})
    system.add_node("none")
    system.add_task("half", 5, named={"licence": 0.5})
    system.run_until_done(60)
    assert system.list_start_times("half") == [0, 0, 0, 0, 10]
    assert {start.node for start in system.started_jobs} == {"n"}


def test_quota_is_renewed_at_the_hour_and_at_midnight() -> None:
    system = SimulatedSystem(interval=10.0)
    system.add_node("n")
    system.add_limit("places", 5, LimitPeriod.DAY)
    system.add_task("day", 8, seconds=1, named={"places": 1})
    system.run_for(1800)
    system.add_limit("calls", 3, LimitPeriod.HOUR)
    system.add_task("hour", 4, seconds=1, named={"calls": 1})
    system.run_for(5500)
    assert Counter(system.list_start_times("hour")) == {1800: 3, 3600: 1}
    assert Counter(system.list_start_times("day")) == {0: 5, 7200: 3}, (
        "the time runs from 22:00 to midnight"
    )


def test_disk_is_allocated_only_to_jobs_that_request_it(system: SimulatedSystem) -> None:
    system.add_node("n", disk=1_000)
    system.add_task("asks", 3, **make_resources(disk=400))
    system.add_task("does not", 4)
    system.run_until_done(60)
    assert system.list_start_times("asks") == [0, 0, 10]
    assert system.list_start_times("does not") == [0, 0, 0, 0]


def test_lowered_limit_applies_as_running_jobs_end(system: SimulatedSystem) -> None:
    system.add_node("n", cores=64, ram=64_000)
    system.add_limit("licence", 6)
    system.add_task("w", 10, seconds=20, named={"licence": 1})
    system.run_for(10)
    system.add_limit("licence", 2)
    system.run_for(15)
    assert Counter(system.list_start_times("w")) == {0: 6, 20: 2}
    system.add_limit("licence", 3)
    system.run_for(2)
    assert Counter(system.list_start_times("w")) == {0: 6, 20: 2, 25: 1}
    system.run_until_done(60)
    system.check_released()


def test_job_with_a_large_amount_starts_in_spite_of_small_amounts(system: SimulatedSystem) -> None:
    system.add_limit("licence", 4)
    system.add_node("a"), system.add_node("b")
    for number in range(4):
        system.add_task("little", 1, seconds=5 + number, named={"licence": 1})
    system.run_for(1)
    system.add_task("much", 1, rank=2.0, named={"licence": 4})
    for _ in range(100):
        system.add_task("little", 1, seconds=7, named={"licence": 1})
        system.run_for(1)
    [start_time] = system.list_start_times("much")
    assert RESERVATION_DELAY_SECONDS < start_time <= 1 + RESERVATION_DELAY_SECONDS + 1 + 7 + 2
    system.run_until_done(1000)


def test_reason_names_requests_that_no_node_can_meet(system: SimulatedSystem) -> None:
    small_nodes = [system.add_node("one", cores=4), system.add_node("two", cores=2)]
    large_node = system.add_node("three", cores=8, named={"licence": 1})
    task = system.add_task("w", 1, named={"licence": 2}, **make_resources(cores=6))
    system.run_for(100)
    assert system.started_jobs == []
    nodes = [PilotNode(node.resources) for node in (*small_nodes, large_node)]
    assert explain_no_fit(task.demand(100, {}), nodes) == (
        "needs 2 licence, the node has 1 (this is the largest of 3 pilots; 2 others: needs 6 cores,"
        " the node has 4)"
    )
