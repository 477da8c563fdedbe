"""Number of jobs that a pilot gets: as many as fit into its free capacity."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import DeviceType
from sluice.contracts.jobs.gpus import FreeGpu, Gpu, GpuNeeds
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.pilots.leases import FreeCapacity, LeaseRequest
from sluice.contracts.pilots.nodes import NodeResources
from tests.unit.gpus import make_gpu
from wms.domain.scheduling.capacity import RESERVATION_DELAY_SECONDS, PilotCapacity, is_reserved_for
from wms.domain.scheduling.limits import Limit
from wms.domain.scheduling.matching import Demand

PILOT, OTHER = UUID(int=7), UUID(int=8)


def make_demand(
    *, cores: float = 1, ram: int = 100, ready: int = 100, gpu: GpuNeeds | None = None
) -> Demand:
    needs = Needs(
        resources=Resources(cores=cores, ram=ram, disk=100),
        device_type=DeviceType.CPU if gpu is None else DeviceType.GPU,
        gpu=gpu,
    )
    return Demand(UUID(int=1), 1.0, datetime(2026, 1, 1, tzinfo=UTC), ready, needs)


def replace_needs(base: Demand, **changes: object) -> Demand:
    return replace(base, needs=base.needs.model_copy(update=changes))


def make_capacity(
    jobs: int, free: Amounts, soon: Amounts | None = None, ahead: int = 0
) -> PilotCapacity:
    return PilotCapacity(
        LeaseRequest(
            jobs=jobs, free_capacity=FreeCapacity(free=free, soon=soon or free, ahead=ahead)
        ),
        OFFER,
    )


GPUS = [make_gpu("GPU-0", memory=8_000), make_gpu("GPU-1", memory=16_000, capability="9.0")]


OFFER = NodeResources(
    cores=8, ram=1000, disk=10_000, devices=GPUS, gpus=["A2"] * 2, named={"licence": 4}
)


def free_gpu(number: int, share: float = 1.0) -> FreeGpu:
    """Return what is left of a GPU."""
    return FreeGpu(uuid=f"GPU-{number}", share=share, memory=int(share * GPUS[number].memory))


NODE = Amounts(cores=8, ram=1000, gpus=[free_gpu(0), free_gpu(1)])


@pytest.mark.parametrize(
    ("job_demand", "offered"),
    [
        (make_demand(), 8),
        (make_demand(ready=3), 3),
        (make_demand(cores=8), 1),
        (make_demand(cores=9), 0),
        (make_demand(cores=0.1, ram=1), 10),
        (make_demand(ram=300), 3),
        (make_demand(gpu=GpuNeeds()), 2),
        (make_demand(gpu=GpuNeeds(memory=10_000)), 1),
        (make_demand(gpu=GpuNeeds(capability="9.0")), 1),
        (make_demand(gpu=GpuNeeds(capabilities=["8.6", "7.5"])), 1),
        (make_demand(gpu=GpuNeeds(cuda="12.10")), 0),
        (make_demand(gpu=GpuNeeds(least=2, most=2)), 1),
        (make_demand(gpu=GpuNeeds(least=3, most=3)), 0),
        (make_demand(gpu=GpuNeeds(share=0.3)), 6),
        (make_demand(gpu=GpuNeeds(share=0.1, memory=4_000)), 6),
        (make_demand(gpu=GpuNeeds(share=0.1, memory=9_000)), 1),
    ],
)
def test_offer_is_the_number_of_jobs_that_fit_together(job_demand: Demand, offered: int) -> None:
    assert make_capacity(10, NODE).count_offered_jobs(job_demand) == offered


def test_named_resources_and_disk_limit_the_offer() -> None:
    left = NODE.model_copy(update={"named": {"licence": 2.5}, "disk": 1000})
    licence = replace_needs(make_demand(), named={"licence": 1})
    assert make_capacity(10, left).count_offered_jobs(licence) == 2
    assert (
        make_capacity(10, left).count_offered_jobs(replace_needs(licence, named={"licence": 0.5}))
        == 5
    )
    capacity = make_capacity(10, left)
    capacity.take(licence, None)
    assert capacity.count_offered_jobs(licence) == 1
    assert capacity.count_offered_jobs(make_demand()) == 7
    disk = replace_needs(make_demand(), resources=Resources(ram=100, disk=300))
    assert make_capacity(10, left).count_offered_jobs(disk) == 3


def test_claimed_capacity_beyond_the_capacity_of_the_node_is_ignored() -> None:
    plenty = Amounts(
        cores=1e9,
        ram=2**40,
        disk=2**40,
        named={"licence": 99, "other": 5},
        gpus=[FreeGpu(uuid=f"GPU-{number}", share=1.0, memory=2**30) for number in range(9)],
    )
    for capacity in (
        make_capacity(1000, plenty),
        make_capacity(1000, Amounts(cores=0, ram=0), plenty, ahead=1000),
    ):
        assert capacity.largest_free_ram == OFFER.ram
        assert capacity.largest_free_gpu(make_demand(gpu=GpuNeeds())) == 16_000
    capacity = make_capacity(1000, plenty)
    assert capacity.count_offered_jobs(make_demand(ram=1)) == 8
    assert capacity.count_offered_jobs(make_demand(cores=0.01)) == 10
    assert capacity.count_offered_jobs(make_demand(gpu=GpuNeeds())) == 2
    assert capacity.count_offered_jobs(replace_needs(make_demand(ram=1), named={"licence": 1})) == 4
    assert capacity.count_offered_jobs(replace_needs(make_demand(ram=1), named={"other": 1})) == 0
    disk = replace_needs(make_demand(), resources=Resources(cores=0.1, ram=1, disk=3000))
    assert capacity.count_offered_jobs(disk) == 3


def test_limited_resource_is_offered_up_to_its_limit_and_never_ahead() -> None:
    limited = replace(
        replace_needs(make_demand(), named={"crawler": 2}),
        limits={"crawler": Limit("crawler", 9, used=2)},
    )
    assert make_capacity(10, NODE).count_offered_jobs(limited) == 3
    busy = make_capacity(10, Amounts(cores=1, ram=500), NODE, ahead=4)
    assert (busy.count_offered_jobs(make_demand()), busy.count_offered_jobs(limited)) == (5, 1)
    assert PilotCapacity(LeaseRequest(jobs=5), OFFER).count_offered_jobs(limited) == 3


def test_misfit_demand_is_considered_only_if_it_may_reserve_the_pilot() -> None:
    small, big = make_demand(), make_demand(cores=8)
    waiting = replace(big, waited=RESERVATION_DELAY_SECONDS + 1)
    reserved_demand = replace(big, reserved_pilot=PILOT)
    elsewhere = replace(waiting, reserved_pilot=OTHER)
    busy = Amounts(cores=1, ram=500)
    demands = [small, big, waiting, reserved_demand, elsewhere]
    assert make_capacity(4, busy).select_demands(demands, PILOT) == [
        small,
        waiting,
        reserved_demand,
    ]
    assert make_capacity(4, busy, NODE, ahead=4).select_demands(demands, PILOT) == demands
    unknown = PilotCapacity(LeaseRequest(jobs=5), OFFER)
    assert unknown.select_demands(demands, PILOT) == demands


def test_job_leased_ahead_needs_capacity_only_for_itself() -> None:
    busy = Amounts(cores=0, ram=500)
    capacity = make_capacity(10, busy, NODE, ahead=4)
    assert capacity.count_offered_jobs(make_demand()) == 4
    assert capacity.count_offered_jobs(make_demand(cores=8)) == 4
    assert capacity.count_offered_jobs(make_demand(cores=9)) == 0
    assert capacity.largest_free_ram == 1000
    for left in (3, 2, 1, 0):
        capacity.take(make_demand(), None)
        assert capacity.count_offered_jobs(make_demand()) == left


def test_number_of_jobs_leased_ahead_is_limited() -> None:
    assert make_capacity(2, NODE, ahead=1).count_offered_jobs(make_demand()) == 2
    capacity = make_capacity(2, Amounts(cores=0, ram=500), NODE, ahead=1)
    assert capacity.count_offered_jobs(make_demand()) == 1
    capacity.take(make_demand(), None)
    assert (capacity.jobs, capacity.count_offered_jobs(make_demand())) == (1, 0)


def test_pilot_of_the_previous_release_gets_as_many_jobs_as_it_asks_for() -> None:
    capacity = PilotCapacity(LeaseRequest(jobs=5), OFFER)
    assert (
        capacity.count_offered_jobs(make_demand(cores=8)),
        capacity.count_offered_jobs(make_demand(ready=2)),
        capacity.largest_free_ram,
    ) == (
        5,
        2,
        None,
    )
    capacity.take(make_demand(cores=8), None)
    assert capacity.jobs == 4


def test_pilot_is_reserved_only_for_a_demand_that_has_waited() -> None:
    fresh, old = (
        make_demand(cores=8),
        replace(make_demand(cores=8), waited=RESERVATION_DELAY_SECONDS + 1),
    )
    assert (is_reserved_for(fresh, PILOT), is_reserved_for(old, PILOT)) == (False, None)
    reserved_demand = replace(old, reserved_pilot=PILOT)
    assert (is_reserved_for(reserved_demand, PILOT), is_reserved_for(reserved_demand, OTHER)) == (
        True,
        False,
    )


_amounts = st.builds(
    Amounts,
    cores=st.integers(0, 80).map(lambda tenths: tenths / 10),
    ram=st.integers(0, 2000),
    gpus=st.lists(
        st.builds(free_gpu, st.integers(0, 1), st.sampled_from([0.2, 0.5, 1.0])),
        max_size=2,
        unique_by=lambda left: left.uuid,
    ),
)
_gpu_needs = st.none() | st.sampled_from(
    [GpuNeeds(), GpuNeeds(share=0.5), GpuNeeds(share=0.2, memory=3_000), GpuNeeds(least=2, most=2)]
)
_demands = st.builds(
    lambda tenths, ram, ready, gpu: make_demand(cores=tenths / 10, ram=ram, ready=ready, gpu=gpu),
    st.integers(1, 90),
    st.integers(0, 1500),
    st.integers(1, 12),
    _gpu_needs,
)


@given(free=_amounts, demands=st.lists(_demands, max_size=8), jobs=st.integers(1, 20))
def test_offered_jobs_never_exceed_the_free_capacity(
    free: Amounts, demands: list[Demand], jobs: int
) -> None:
    capacity, granted = make_capacity(jobs, free), list[Demand]()
    for job_demand in demands:
        for _ in range(capacity.count_offered_jobs(job_demand)):
            capacity.take(job_demand, None)
            granted.append(job_demand)
    assert len(granted) <= jobs
    assert sum(job_demand.needs.resources.cores for job_demand in granted) <= free.cores + 1e-6
    assert sum(job_demand.ram for job_demand in granted) <= min(free.ram, OFFER.ram)
    shares = [
        job_demand.needs.gpu.share * job_demand.needs.gpu.least
        for job_demand in granted
        if job_demand.needs.gpu
    ]
    assert sum(shares) <= sum(left.share for left in free.gpus) + 1e-6


@given(free=_amounts, job_demand=_demands, jobs=st.integers(1, 20))
def test_offer_leaves_no_capacity_for_another_job(
    free: Amounts, job_demand: Demand, jobs: int
) -> None:
    offered = make_capacity(jobs, free).count_offered_jobs(job_demand)
    one_more = offered + 1
    # A pilot cannot have more than its node.
    over = (
        one_more * job_demand.needs.resources.cores > free.cores + 1e-6
        or one_more * job_demand.ram > min(free.ram, OFFER.ram)
    )
    needs, devices = job_demand.needs.gpu, {device.uuid: device for device in GPUS}
    places = (
        sum(_count_places(devices[left.uuid], left, needs) for left in free.gpus) if needs else 0
    )
    short_of_gpus = needs is not None and one_more > places // needs.least
    assert over or short_of_gpus or offered in {jobs, job_demand.ready}


def _count_places(device: Gpu, left: FreeGpu, needs: GpuNeeds) -> int:
    """Return the number of jobs that get a part of the device."""
    if needs.share == 1:
        return int(left.share == 1)
    memory = needs.memory or int(needs.share * device.memory)
    return min(int((left.share + 1e-6) / needs.share), left.memory // memory)
