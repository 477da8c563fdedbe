"""Properties for any requests: no overbooking, complete release, and no starvation."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.limits import LimitPeriod
from tests.draws import count_examples
from tests.unit.gpus import make_gpu
from tests.unit.resources.simulated_system import SimulatedSystem

_GPUS = [None, GpuNeeds(), GpuNeeds(share=0.5), GpuNeeds(share=0.3, memory=5_000),
         GpuNeeds(least=2, most=2), GpuNeeds(least=1, most=3)]  # fmt: skip
_NEEDS = st.fixed_dictionaries(
    {
        "cores": st.sampled_from([0.1, 0.5, 1, 2, 4, 8]),
        "ram": st.sampled_from([0, 500, 4_000, 16_000]),
        "disk": st.sampled_from([1024, 300, 5_000]),
        "gpu": st.sampled_from(_GPUS),
        "named": st.sampled_from(
            [{}, {}, {"licence": 1}, {"licence": 0.5}, {"licence": 4}, {"crawler": 1},
             {"crawler": 3}, {"licence": 1, "crawler": 2}, {"calls": 2}]
        ),
        "nodes": st.sampled_from([{}, {}, {"site": ["a"]}, {"site": ["a", "b"]}]),
        "jobs": st.integers(1, 12),
        "seconds": st.sampled_from([1, 3, 20, 45]),
        "rank": st.sampled_from([1.0, 1.0, 2.0]),
    }
)  # fmt: skip
_MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("work"), _NEEDS),
        st.tuples(st.just("wait"), st.sampled_from([1, 5, 40])),
        st.tuples(st.just("kill"), st.integers(0, 2)),
        st.tuples(st.just("limit"), st.sampled_from([3, 5, 9])),
    ),
    min_size=1,
    max_size=14,
)
_DEVICES = [make_gpu("GPU-0", memory=16_000), make_gpu("GPU-1", memory=40_000)]


def add_node_or_task(system: SimulatedSystem, request: dict[str, Any]) -> None:
    amounts = {name: request[name] for name in ("cores", "ram", "disk")}
    rest = {name: request[name] for name in ("named", "nodes", "gpu")}
    device = "cpu" if request["gpu"] is None else "gpu"
    system.add_task(
        "w",
        request["jobs"],
        seconds=request["seconds"],
        rank=request["rank"],
        resources=amounts,
        device_type=device,
        **rest,
    )


def add_permanent_nodes(system: SimulatedSystem) -> None:
    """Add nodes that stay; at least one of them fits each request."""
    system.add_node("big", cores=8, disk=8_000, named={"licence": 4}, labels={"site": "a"},
                    devices=_DEVICES, gpus=["A2", "A2"])  # fmt: skip
    system.add_node("other", cores=4, ram=8_000, labels={"site": "b"}, named={"licence": 1})


@settings(max_examples=count_examples(25))
@given(moves=_MOVES)
def test_all_fitting_jobs_run_and_release_their_resources(
    moves: list[tuple[str, Any]],
) -> None:
    system = SimulatedSystem()
    add_permanent_nodes(system)
    mortal = [system.add_node(f"m{number}", cores=4, labels={"site": "a"}) for number in range(3)]
    system.add_limit("crawler", 5)
    system.add_limit("calls", 4, LimitPeriod.MINUTE)
    for kind, value in moves:
        match kind:
            case "work":
                add_node_or_task(system, value)
            case "wait":
                system.run_for(value)
            case "kill" if mortal[value].is_alive:
                system.kill_node(mortal[value])
            case "limit" if value >= system.list_limits()["crawler"].used:
                system.add_limit("crawler", value)
    jobs = sum(task.ready + task.finished_jobs for task in system.tasks) + len(system.leases)
    # The longest job may run alone each time, and each reservation may last its whole time.
    system.run_until_done(45.0 * jobs + 60.0 * jobs + 600.0)
    assert sum(task.finished_jobs for task in system.tasks) == jobs
    system.check_released()


@settings(max_examples=count_examples(8))
@given(stream=_NEEDS, waiting=st.lists(_NEEDS, min_size=1, max_size=4))
def test_no_job_starves_behind_an_endless_stream(
    stream: dict[str, Any], waiting: list[dict[str, Any]]
) -> None:
    """Jobs of a kind arrive faster than they run, and large jobs of other kinds still start."""
    system = SimulatedSystem()
    add_permanent_nodes(system)
    system.add_limit("crawler", 5)
    system.add_limit("calls", 4, LimitPeriod.MINUTE)
    request_of_stream = {"rank": 1.0, "seconds": min(stream["seconds"], 20)}
    add_node_or_task(system, stream | request_of_stream | {"jobs": 10_000})
    system.run_for(5)
    others = len(system.tasks)
    for request in waiting:
        add_node_or_task(system, request | {"jobs": 1, "rank": 1.0})
    for _ in range(30):
        system.run_for(60)
        if not any(task.ready for task in system.tasks[others:]):
            return
    raise AssertionError([task for task in system.tasks[others:] if task.ready])
