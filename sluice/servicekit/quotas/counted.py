"""What a service counts of groups and of people, and how much they may have of it.

A quota is looked at in the transaction that adds to it, under a lock of its holder until the end:
two that ask at once are not both let through.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sluice.contracts.problems import Unprocessable
from sluice.contracts.quotas import (
    HolderKind,
    Holding,
    Quantity,
    Quota,
    QuotaHolder,
    Reached,
)
from sluice.servicekit.database import Connection

#: Of PostgreSQL's advisory locks, those of holders.
_LOCKS = 0x5147
_MOST_COUNTED = 2**63 - 1
#: Where a table says whose a row is.
_COLUMNS = {HolderKind.GROUP: "owner_group", HolderKind.PERSON: "owner"}

_MOST = "SELECT quantity, most FROM quotas WHERE kind = $1 AND name = $2"
_ALL_MOST = """
SELECT name, quantity, most FROM quotas WHERE kind = $1 AND ($2::text IS NULL OR name = $2)
"""
_LOCK = f"SELECT pg_advisory_xact_lock({_LOCKS}, hashtext($1 || ' ' || $2))"
_SET = """
INSERT INTO quotas (kind, name, quantity, most) VALUES ($1, $2, $3, $4)
ON CONFLICT (kind, name, quantity) DO UPDATE SET most = $4
"""
_REMOVE = "DELETE FROM quotas WHERE kind = $1 AND name = $2 AND quantity = $3"


class NotCounted(Unprocessable):
    """Another service counts it."""

    def __init__(self, quantity: Quantity, here: Iterable[Quantity]) -> None:
        super().__init__(f"{quantity} is not counted here: {', '.join(here)} are")


@dataclass(frozen=True, slots=True)
class Counted:
    """``rows``: SQL's FROM … WHERE … of what counts; the table has the columns ``owner`` and
    ``owner_group``. ``sums``: how much there is of each quantity, an aggregate, 0 for no rows.
    """

    rows: str
    sums: Mapping[Quantity, str]

    def used_by_one(self, kind: HolderKind) -> str:
        return f"SELECT {self._sums} {self.rows} AND {_COLUMNS[kind]} = $1"

    def used_by_each(self, kind: HolderKind) -> str:
        """$1: a name, or null for all."""
        column = _COLUMNS[kind]
        return (
            f"SELECT {column} AS name, {self._sums} {self.rows} AND {column} IS NOT NULL"
            f" AND ($1::text IS NULL OR {column} = $1) GROUP BY {column}"
        )

    @property
    def _sums(self) -> str:
        """More than a column holds is as much as it holds."""
        return ", ".join(
            f"least({each}, {_MOST_COUNTED})::bigint AS {quantity}"
            for quantity, each in self.sums.items()
        )

    async def set(
        self, connection: Connection, holder: QuotaHolder, most: Mapping[Quantity, int | None]
    ) -> None:
        """None: as much as there is. Raises ``NotCounted``."""
        if (elsewhere := next((each for each in most if each not in self.sums), None)) is not None:
            raise NotCounted(elsewhere, self.sums)
        for quantity, number in sorted(most.items()):
            key = (holder.kind, holder.name, quantity)
            if number is None:
                await connection.execute(_REMOVE, *key)
            else:
                await connection.execute(_SET, *key, number)

    async def bounded(self, connection: Connection, holder: QuotaHolder) -> dict[Quantity, Quota]:
        """What the holder may not have any amount of, with what there is, to which nobody adds
        until the transaction ends.
        """
        rows = await connection.fetch(_MOST, holder.kind, holder.name)
        if not rows:
            return {}
        await connection.execute(_LOCK, holder.kind, holder.name)
        used = await connection.fetchrow(self.used_by_one(holder.kind), holder.name)
        assert used is not None  # noqa: S101 - sums without groups give one row
        return {
            Quantity(row["quantity"]): Quota(used=used[row["quantity"]], most=row["most"])
            for row in rows
        }

    async def reached(
        self, connection: Connection, holders: Iterable[QuotaHolder], more: Mapping[Quantity, int]
    ) -> Reached | None:
        """The first quota that leaves no room for so much more. ``holders``: in the order of
        ``holders_of``, in which they are locked.
        """
        for holder in holders:
            quotas = await self.bounded(connection, holder)
            for quantity, number in more.items():
                quota = quotas.get(quantity)
                if quota is not None and number and not quota.leaves(number):
                    return Reached(holder, quantity, quota, number)
        return None

    async def holdings(
        self, connection: Connection, kind: HolderKind, name: str | None = None
    ) -> list[Holding]:
        """Of who has anything, or a quota, by name; of one where it is given."""
        used = {row["name"]: row for row in await connection.fetch(self.used_by_each(kind), name)}
        most: dict[str, dict[str, int]] = {}
        for row in await connection.fetch(_ALL_MOST, kind, name):
            most.setdefault(row["name"], {})[row["quantity"]] = row["most"]
        return [
            Holding(
                name=each,
                has={
                    quantity: Quota(
                        used=used[each][quantity] if each in used else 0,
                        most=most.get(each, {}).get(quantity),
                    )
                    for quantity in self.sums
                },
            )
            for each in sorted({*used, *most})
        ]
