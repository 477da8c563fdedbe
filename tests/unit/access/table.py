"""Read the table of `docs/reference/access.md` and apply it with an implementation of its own."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.sources import ROOT

#: Roles from the weakest to the strongest.
ROLES = ("viewer", "submitter", "shift", "admin")
PILOT = "00000000-0000-4000-8000-000000000001"
OTHER_PILOT = "00000000-0000-4000-8000-000000000002"

_PAGE = ROOT / "docs/reference/access.md"
_PART = re.compile(r"\{(\w+)\}")
_ROW = re.compile(r"\| `([A-Z]+) (\S+)` \| (.+) \|")


@dataclass(frozen=True, slots=True)
class Row:
    service: str
    method: str
    address: str
    who: frozenset[str]

    def lets(self, caller: str) -> bool:
        """Return whether the row allows the caller.

        ``caller`` is a role, ``service:NAME``, ``enrolled``, the identifier of a pilot, ``scraper``
        or ``nobody``."""
        if "everybody" in self.who:
            return True
        if caller in ROLES:
            may = set(ROLES[: ROLES.index(caller) + 1])
            # Whether the object belongs to the caller is checked later.
            own = "submitter:own" in self.who and "submitter" in may
            return own or bool(self.who & may)
        if caller == "enrolled":
            return "pilot:enrolled" in self.who
        if caller in {PILOT, OTHER_PILOT}:  # The requests name the first pilot.
            return "pilot:itself" in self.who and caller == PILOT
        return caller in self.who

    @property
    def path(self) -> str:
        """Return the address with a UUID, a number or a name for each parameter."""
        uids = dict.fromkeys(("uid", "template_id", "draft", "token"), PILOT)
        numbers = {"file", "job", "job_id", "number", "run"}
        return _PART.sub(
            lambda part: uids.get(part[1], "1" if part[1] in numbers else "name"), self.address
        )


def read_rows(page: Path = _PAGE) -> list[Row]:
    table_rows, service = [], ""
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            service = line.removeprefix("## ")
        elif match := _ROW.fullmatch(line):
            method, address, who = match.groups()
            table_rows.append(Row(service, method, address, frozenset(who.split(", "))))
    return table_rows
