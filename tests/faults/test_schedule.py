"""The schedule is a pure function of the seed, and has all kinds of faults."""

import os
import subprocess
import sys
from dataclasses import astuple
from itertools import combinations, pairwise

import pytest

from tests.faults.schedule import REPLICAS, Kind, count_overlaps, make_schedule
from tests.faults.workload.misbehaving_tool import MISBEHAVIOURS

SEEDS = range(1, 21)


def test_same_seed_gives_the_same_faults_in_any_process() -> None:
    program = (
        "from tests.faults.schedule import *; print([astuple(f) for f in make_schedule(5,"
        " faults=66)])"
    )
    program = "from dataclasses import astuple; " + program
    others = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert others == {str([astuple(fault) for fault in make_schedule(5, faults=66)])}


def test_different_seeds_give_different_schedules() -> None:
    assert len({tuple(make_schedule(seed, faults=66)) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("faults", [18, 20, 66, 150])
def test_schedule_has_every_kind_and_overlapping_faults(faults: int) -> None:
    for seed in SEEDS:
        schedule = make_schedule(seed, faults=faults)
        assert sorted(fault.number for fault in schedule) == list(range(1, faults + 1)), seed
        assert {fault.kind for fault in schedule} == set(Kind), seed
        assert [fault.at for fault in schedule] == sorted(fault.at for fault in schedule), seed
        assert count_overlaps(schedule) >= faults / 4, seed


def test_schedule_of_66_faults_kills_every_process() -> None:
    processes = {
        f"{name}/{number}" for name, replicas in REPLICAS.items() for number in range(replicas)
    }
    for seed in SEEDS:
        assert _list_targets(seed, Kind.KILL) == processes, seed


def test_schedule_of_66_faults_has_every_misbehaviour_of_a_tool() -> None:
    for seed in SEEDS:
        assert _list_targets(seed, Kind.TOOL) == {f"tool/{way}" for way in MISBEHAVIOURS}, seed


def _list_targets(seed: int, kind: Kind) -> set[str]:
    return {fault.target for fault in make_schedule(seed, faults=66) if fault.kind is kind}


@pytest.mark.parametrize("faults", [18, 66])
def test_site_is_revoked_early_while_its_pilots_have_work(faults: int) -> None:
    for seed in SEEDS:
        schedule = make_schedule(seed, faults=faults, spacing=4.0)
        assert all(one.at < 2.0 * faults + 4.0 for one in schedule if one.kind is Kind.SITE), seed


def test_schedule_of_66_faults_has_both_outages_of_the_provider_apart() -> None:
    for seed in SEEDS:
        outages = [one for one in make_schedule(seed, faults=66) if one.kind is Kind.PROVIDER]
        assert {one.target for one in outages} == {"provider/down", "provider/hangs"}, seed
        assert outages[0].at + outages[0].seconds <= outages[1].at, seed


def test_faults_of_one_target_do_not_overlap() -> None:
    for seed in SEEDS:
        for first, second in combinations(make_schedule(seed, faults=66), 2):
            assert first.target != second.target or first.at + first.seconds <= second.at, seed


@pytest.mark.parametrize("kind", [Kind.SITE, Kind.ENROLMENT, Kind.TOKEN, Kind.PROVIDER])
def test_access_faults_of_one_kind_are_at_least_20_seconds_apart(kind: Kind) -> None:
    for seed in SEEDS:
        began = [one.at for one in make_schedule(seed, faults=66, spacing=3.7) if one.kind is kind]
        assert all(later - earlier >= 20.0 for earlier, later in pairwise(began)), seed


def test_pilots_are_frozen_longer_than_their_leases() -> None:
    frozen = [
        f
        for f in make_schedule(1, faults=66, lease=6.0)
        if f.kind is Kind.FREEZE and f.target.startswith("pilot/")
    ]
    assert len(frozen) == REPLICAS["pilot"]
    assert all(fault.seconds > 6.0 for fault in frozen)
    assert {fault.amount for fault in frozen} == {0.0, 1.0}, (
        "some are frozen alone, others with their jobs"
    )


def test_schedule_with_too_few_faults_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one fault of each of the 18 kinds, not 12"):
        make_schedule(1, faults=12)
