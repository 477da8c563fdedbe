"""Tests of which users may be named for slots and which of them work on this node."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilot.isolation.node.slot_users import (
    UnsuitableUsersError,
    claim,
    find_slot_users,
    why_unsuitable,
)
from pilot.isolation.users.slot_user import SlotUser
from pilot.runner.programs.orphans import adopt_orphans
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.slot_users import make_user, open_folder

#: A user that every system has.
DAEMON = pwd.getpwnam("daemon")


@pytest.fixture
def jobs_folder() -> Iterator[Path]:
    """Return a folder that users can enter."""
    adopt_orphans()
    with open_folder() as folder:
        yield folder


@pytest.fixture
def closed_folder(jobs_folder: Path) -> Path:
    (jobs_folder / "closed").mkdir(mode=0o700)
    return jobs_folder / "closed"


def test_slot_users_are_given_by_name_or_number() -> None:
    slot_users = find_slot_users(["daemon", "61001"], 2)
    assert slot_users == [
        SlotUser(name=f"daemon ({DAEMON.pw_uid})", uid=DAEMON.pw_uid, gid=DAEMON.pw_gid),
        SlotUser(name="61001", uid=61001, gid=61001),
    ]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["61001"], "1 for 2 slots: name at least as many as there are slots"),
        (["61001", "no-such"], "there is no user 'no-such' on this node"),
        (["61001", "0"], r"user root \(0\) is root, the pilot itself, or"),
        (["root", "61001"], r"user root \(0\) is root, the pilot itself, or"),
        (["nobody", "61001"], r"user nobody \(65534\) is root, the pilot itself, or"),
        (["61001", "61001"], "user 61001 appears 2 times"),
        (["daemon", str(DAEMON.pw_uid)], f"user {DAEMON.pw_uid} appears 2 times"),
        (["61001", "4294967295"], "4294967295 is too large for a user's number"),
        (["61001", "-1"], "there is no user '-1' on this node"),
    ],
)
def test_invalid_slot_users_are_refused_with_a_reason(names: list[str], sentence: str) -> None:
    with pytest.raises(UnsuitableUsersError, match=f"^SLUICE_PILOT_SLOT_USERS: {sentence}"):
        find_slot_users(names, 2)


def test_slot_users_that_share_a_group_are_refused() -> None:
    """Each could read the inputs of the other. The group of a number without an entry is the same
    number."""
    entries = pwd.getpwall()
    numbers = {0, *(entry.pw_uid for entry in entries)}
    shared_entry = next(entry for entry in entries if entry.pw_uid and entry.pw_gid not in numbers)
    with pytest.raises(UnsuitableUsersError, match=f"group {shared_entry.pw_gid} appears 2 times"):
        find_slot_users([shared_entry.pw_name, str(shared_entry.pw_gid)], 2)


def test_slot_user_is_claimed_by_one_pilot_at_a_time() -> None:
    first, second = make_user(), make_user()
    claims = claim([first])
    with pytest.raises(
        UnsuitableUsersError, match=f"another pilot of this node has user {first.name}"
    ):
        claim([second, first])
    for name in claims:
        name.close()
    for name in claim([second, first]):
        name.close()


@pytest.mark.needs(ROOT_RIGHTS)
def test_user_that_can_enter_only_the_job_folder_is_accepted(
    jobs_folder: Path, closed_folder: Path
) -> None:
    assert why_unsuitable([make_user(), make_user()], jobs_folder, closed_folder) is None
    assert list(closed_folder.iterdir()) == []
    assert list(jobs_folder.iterdir()) == [closed_folder]


@pytest.mark.needs(ROOT_RIGHTS)
def test_user_that_cannot_enter_the_job_folder_is_refused(
    jobs_folder: Path, closed_folder: Path
) -> None:
    user = make_user()
    jobs_folder.chmod(0o700)
    assert f"tools cannot run as user {user.name}: sh: Permission denied" in str(
        why_unsuitable([user], jobs_folder, closed_folder)
    )


@pytest.mark.needs(ROOT_RIGHTS)
def test_user_that_can_read_files_of_the_pilot_is_refused(
    jobs_folder: Path, closed_folder: Path
) -> None:
    user = make_user()
    closed_folder.chmod(0o711)
    assert why_unsuitable([user], jobs_folder, closed_folder) == (
        f"tools cannot run as user {user.name}: it can read the pilot's files"
    )


@pytest.mark.needs(ROOT_RIGHTS)
def test_pilot_that_is_not_root_cannot_use_slot_users(
    jobs_folder: Path, closed_folder: Path
) -> None:
    """A container with dropped capabilities is such a case."""
    pid = os.fork()
    if pid == 0:
        os.setresuid(65534, 65534, 65534)
        os._exit(
            0
            if "is not root" in str(why_unsuitable([make_user()], jobs_folder, closed_folder))
            else 1
        )
    assert os.waitpid(pid, 0)[1] == 0
