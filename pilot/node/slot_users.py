"""Users of the node's for the tools of a pilot's slots, found by trying them."""

import contextlib
import os
import pwd
import socket
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pilot.sandbox.process_limits import ProcessLimits
from pilot.users.programs import UserError, UserPrograms
from pilot.users.slot_user import SlotUser, give, let_pass, let_read
from sluice.os_errors import sentence_of
from sluice.visible_text import quoted

#: Expressions of templates are evaluated as this user, and other services may run as it.
NOBODY = 65534

#: What is run as each user, in a folder as jobs have them, with a file of the pilot's that is none
#: of its business as its argument. What it says last is why the user is not good enough.
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


class WrongUsersError(Exception):
    """The users that the pilot is given for its slots cannot be had as such: a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(f"SLUICE_PILOT_SLOT_USERS: {why}")


def named_users(names: Sequence[str], least: int) -> list[SlotUser]:
    """In order. ``names``: or numbers, which need no entry among the node's users. ``least``: so
    many slots there are to be. Raises ``WrongUsersError``."""
    users = [_user(name) for name in names]
    if len(users) < least:
        raise WrongUsersError(
            f"{len(users)} for {least} slots: name at least as many as there are slots"
            " (SLUICE_PILOT_SLOTS; where that is not set, one for each core)"
        )
    for what, numbers in (("user", [u.uid for u in users]), ("group", [u.gid for u in users])):
        number, times = Counter(numbers).most_common(1)[0]
        if times > 1:
            raise WrongUsersError(
                f"{what} {number} is there {times} times: give each slot a user with a group of"
                " its own"
            )
    return users


def _user(name: str) -> SlotUser:
    number = int(name) if name.isascii() and name.isdigit() else None
    try:
        found = pwd.getpwnam(name) if number is None else pwd.getpwuid(number)
    except (KeyError, OverflowError):
        if number is None:
            raise WrongUsersError(f"there is no user {quoted(name)} on this node") from None
        if number >= 1 << 32 - 1:
            raise WrongUsersError(f"{name} is too large for a user's number") from None
        user = SlotUser(name=name, uid=number, gid=number)
    else:
        name = f"{found.pw_name} ({found.pw_uid})"
        user = SlotUser(name=name, uid=found.pw_uid, gid=found.pw_gid)
    if user.uid in {0, os.geteuid(), NOBODY}:
        whose = "root, the pilot itself, or whom others take for nobody"
        raise WrongUsersError(f"user {user.name} is {whose}: give each slot a user of its own")
    if user.gid in {0, os.getegid(), *os.getgroups()}:
        raise WrongUsersError(
            f"user {user.name} has a group of the pilot's, {user.gid}: give it one of its own"
        )
    return user


def claim(users: Sequence[SlotUser]) -> list[socket.socket]:
    """What keeps other pilots of the node from these users, for as long as this process has it.
    Raises ``WrongUsersError`` where one of them has them already."""
    claims = []
    for user in users:
        name = socket.socket(socket.AF_UNIX)
        claims.append(name)
        try:
            name.bind(f"\0sluice-slot-user-{user.uid}")
        except OSError as error:
            for taken in claims:
                taken.close()
            raise WrongUsersError(
                f"another pilot of this node has user {user.name}: give each pilot users of its own"
            ) from error
    return claims


def why_not(users: Sequence[SlotUser], folder: Path, closed: Path) -> str | None:
    """Why tools cannot run as these users; None: they can. ``folder``: where jobs have theirs.
    ``closed``: one that they must not get into. This process has to adopt orphans."""
    if os.geteuid() != 0:
        return "tools cannot run as users of their own: the pilot is not root"
    for user in users:
        try:
            failure = _failure(user, folder, closed)
        except OSError as error:
            failure = sentence_of(error)
        except UserError as error:
            failure = str(error)
        if failure is not None:
            return f"tools cannot run as user {user.name}: {failure}"
    return None


def _failure(user: SlotUser, folder: Path, closed: Path) -> str | None:
    with (
        tempfile.TemporaryDirectory(prefix="try-", dir=folder) as place,
        tempfile.NamedTemporaryFile(prefix="try-", dir=closed) as secret,
    ):
        os.fchmod(secret.fileno(), 0o644)
        for name in ("in", "out"):
            os.mkdir(f"{place}/{name}")
        for name in ("in/file", "closed"):
            Path(place, name).write_text("own")
        Path(place, "closed").chmod(0o600)
        let_pass(place, user)
        let_read(f"{place}/in", user)
        give(f"{place}/out", user)
        with contextlib.closing(UserPrograms(user)) as programs, tempfile.TemporaryFile() as said:
            status = _run(programs, ["sh", "-c", _PROBE, "sh", secret.name], place, said.fileno())
            programs.tidy_up()
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
    if status == 0:
        return None
    return lines[-1][:300] if lines else f"the try ended with status {status}"


def _run(programs: UserPrograms, arguments: Sequence[str], folder: str, said: int) -> int:
    """The exit status. Raises ``OSError``, ``UserError``."""
    with open(os.devnull, "rb") as nothing:
        pid = programs.start(
            arguments,
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            folder=folder,
            streams=[nothing.fileno(), said, said],
            limits=ProcessLimits(),
        )
    os.kill(pid, 0)  # who may not could not end a tool
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
