"""Tests of what a slot user prevents on a node without a sandbox: all attacks except those listed
here and in ``docs/how-to/contain-tools.md``."""

import os
from collections.abc import Iterator

import pytest

from pilot.isolation.users.slot_user import let_pass
from tests.attacks.tools import limits, network, next_job
from tests.attacks.tools.attack import Attack
from tests.attacks.tools.attack_jobs import (
    ATTACKS,
    AttackedSlot,
    make_attack_parameters,
    open_attacked_slot,
    run_attack,
)
from tests.attacks.tools.slot_kinds import OPEN
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.slot_users import make_user, open_folder, start_slot_as_users

pytestmark = pytest.mark.needs(ROOT_RIGHTS)

#: Attacks on files that all users may read.
_OPEN_FILES = {
    "reads another data set",
    "reads a file in /tmp",
    "reads a file in /var/tmp",
    "reads shared memory of POSIX",
    "lists the storage",
    "reads through its own root",
    "reads through a link that it makes",
    "reads through a link that lies in the storage",
}
#: Attacks that see processes and their command lines, the number of keys, or names of disks.
_VISIBLE_PROCESSES = {
    "reads the arguments of any process",
    "finds the pilot's paths in the arguments of any process",
    "reads how many keys users have",
    "sees another process",
    "sees its slot",
    "has the node's disks",
}
#: Attacks that leave objects for the next job of the slot.
_LEFT_OBJECTS = {
    "leaves shared memory",
    "leaves semaphores",
    "leaves a message",
    "leaves a message of POSIX",
}
_POSSIBLE_ATTACKS = {
    *_OPEN_FILES,
    *_VISIBLE_PROCESSES,
    *_LEFT_OBJECTS,
    *(attack.name for attack in (*network.ATTACKS, *next_job.NETWORK)),
    # The tests of jobs of slot users try the limits of a job.
    *(attack.name for attack in limits.ATTACKS),
}
BLOCKED_ATTACKS = [attack for attack in ATTACKS if attack.name not in _POSSIBLE_ATTACKS]


@pytest.fixture(scope="module")
def user_slot() -> Iterator[AttackedSlot]:
    with open_folder() as folder:
        store = folder / "store"
        store.mkdir()
        runner = start_slot_as_users(folder, [make_user()], SLUICE_SECRET="hush")
        slots = open_attacked_slot(runner, store, OPEN)
        slot = next(slots)
        # The other job belongs to another slot.
        let_pass(os.path.dirname(slot.node_objects.files["job"].parent), make_user())
        yield slot
        next(slots, None)
        runner.close()


@pytest.mark.parametrize(
    ("attack", "inside"),
    make_attack_parameters(
        BLOCKED_ATTACKS, inside=[pytest.mark.long("each of them is seen to fail alone")]
    ),
)
def test_attack_by_a_slot_user_fails(
    attack: Attack, *, inside: bool, user_slot: AttackedSlot
) -> None:
    succeeded, result = run_attack(attack, user_slot, inside=inside)
    assert not succeeded
    assert attack.was_prevented(result), result
