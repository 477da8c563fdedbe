"""Users of the node for the tools of slots, checked by running a program as each."""

import contextlib
import os
import pwd
import socket
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.users.programs import SlotUserError, UserPrograms
from pilot.isolation.users.slot_user import SlotUser, chown_tree, let_pass, let_read
from sluice.text.os_errors import os_error_sentence
from sluice.text.visible_text import quoted

#: Uid of the user that evaluates expressions of templates. Other services may use it too.
NOBODY = 65534

#: Program run as each user in a folder like a job's. Its argument is a file that it must not read.
#: Its last line says why the user is not suitable.
_PROBE = """
exec 2>&1
cat in/file > /dev/null && echo more > out/file || exit 1
if cat "$1"; then echo "it can read the pilot's files"; exit 1; fi
if echo more >> in/file; then echo 'it can write to inputs'; exit 1; fi
if ln closed out/link; then
  echo 'it can give files of others a second name (set fs.protected_hardlinks to 1)'; exit 1
fi
while read -r name value rest; do
  case "$name:$value$rest" in
    Groups::?* | CapPrm::*[1-9a-f]* | CapEff::*[1-9a-f]* | CapAmb::*[1-9a-f]* | NoNewPrivs::0)
      echo "it would keep rights ($name $value)"; exit 1;;
  esac
done < /proc/self/status
"""


class UnsuitableUsersError(Exception):
    """The users named for the slots cannot be used. The message is a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(f"SLUICE_PILOT_SLOT_USERS: {why}")


def find_slot_users(names: Sequence[str], slots: int) -> list[SlotUser]:
    """Return the users for the slots, in order.

    ``names`` may hold numeric ids, which need no entry in the user database. ``slots`` is the
    number of slots.

    Raises:
        UnsuitableUsersError: A user is unknown or not suitable, or there are too few users.
    """
    users = [_find_user(name) for name in names]
    if len(users) < slots:
        raise UnsuitableUsersError(
            f"{len(users)} for {slots} slots: name at least as many as there are slots"
            " (SLUICE_PILOT_SLOTS; where that is not set, one for each core)"
        )
    for what, numbers in (("user", [u.uid for u in users]), ("group", [u.gid for u in users])):
        number, times = Counter(numbers).most_common(1)[0]
        if times > 1:
            raise UnsuitableUsersError(
                f"{what} {number} appears {times} times: give each slot a user with a separate"
                " group"
            )
    return users


def _find_user(name: str) -> SlotUser:
    number = int(name) if name.isascii() and name.isdigit() else None
    try:
        entry = pwd.getpwnam(name) if number is None else pwd.getpwuid(number)
    except (KeyError, OverflowError):
        if number is None:
            raise UnsuitableUsersError(f"there is no user {quoted(name)} on this node") from None
        if number >= 1 << 32 - 1:
            raise UnsuitableUsersError(f"{name} is too large for a user's number") from None
        user = SlotUser(name=name, uid=number, gid=number)
    else:
        name = f"{entry.pw_name} ({entry.pw_uid})"
        user = SlotUser(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    if user.uid in {0, os.geteuid(), NOBODY}:
        whose = "root, the pilot itself, or the user nobody"
        raise UnsuitableUsersError(f"user {user.name} is {whose}: give each slot its own user")
    if user.gid in {0, os.getegid(), *os.getgroups()}:
        raise UnsuitableUsersError(
            f"user {user.name} has a group of the pilot's, {user.gid}: give it a separate group"
        )
    return user


def claim(users: Sequence[SlotUser]) -> list[socket.socket]:
    """Reserve the users for this process and return the sockets that hold the reservation.

    Raises:
        UnsuitableUsersError: Another pilot of the node has one of the users.
    """
    claims = []
    for user in users:
        reservation = socket.socket(socket.AF_UNIX)
        claims.append(reservation)
        try:
            reservation.bind(f"\0sluice-slot-user-{user.uid}")
        except OSError as error:
            for reserved in claims:
                reserved.close()
            raise UnsuitableUsersError(
                f"another pilot of this node has user {user.name}: give each pilot its own users"
            ) from error
    return claims


def why_unsuitable(users: Sequence[SlotUser], folder: Path, closed_folder: Path) -> str | None:
    """Return why tools cannot run as these users, or None if they can.

    ``folder`` is the parent of the jobs' folders. ``closed_folder`` is a folder that the users must
    not enter. This process must be a subreaper, which adopts orphans.
    """
    if os.geteuid() != 0:
        return "tools cannot run as separate users: the pilot is not root"
    for user in users:
        try:
            failure = _find_failure(user, folder, closed_folder)
        except OSError as error:
            failure = os_error_sentence(error)
        except SlotUserError as error:
            failure = str(error)
        if failure is not None:
            return f"tools cannot run as user {user.name}: {failure}"
    return None


def _find_failure(user: SlotUser, folder: Path, closed_folder: Path) -> str | None:
    with (
        tempfile.TemporaryDirectory(prefix="try-", dir=folder) as place,
        tempfile.NamedTemporaryFile(prefix="try-", dir=closed_folder) as secret,
    ):
        os.fchmod(secret.fileno(), 0o644)
        for name in ("in", "out"):
            os.mkdir(f"{place}/{name}")
        for name in ("in/file", "closed"):
            Path(place, name).write_text("own")
        Path(place, "closed").chmod(0o600)
        let_pass(place, user)
        let_read(f"{place}/in", user)
        chown_tree(f"{place}/out", user)
        with contextlib.closing(UserPrograms(user)) as programs, tempfile.TemporaryFile() as output:
            status = _run(programs, ["sh", "-c", _PROBE, "sh", secret.name], place, output.fileno())
            programs.tidy_up()
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
    if status == 0:
        return None
    return lines[-1][:300] if lines else f"the test ended with status {status}"


def _run(programs: UserPrograms, arguments: Sequence[str], folder: str, output: int) -> int:
    """Run a program and return its exit status.

    Raises:
        OSError: The program could not be started or signaled.
        SlotUserError: The program could not be run as the user.
    """
    with open(os.devnull, "rb") as nothing:
        pid = programs.start(
            arguments,
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            folder=folder,
            streams=[nothing.fileno(), output, output],
            limits=ProcessLimits(),
        )
    os.kill(pid, 0)  # Check that this process may signal, and so end, the user's programs.
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
