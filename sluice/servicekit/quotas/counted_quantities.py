"""The use of a service's resources by groups and people, and their quotas.

A quota is checked in the transaction that adds to the usage. A lock on the holder prevents two
concurrent requests from both passing the check.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sluice.contracts.access.quotas import (
    HolderKind,
    Holding,
    Quantity,
    Quota,
    QuotaHolder,
    ReachedQuota,
)
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.database import Connection

#: The first key of the advisory locks of holders.
_LOCKS = 0x5147
_MAX_COUNTED = 2**63 - 1
#: The columns that name the holder of a row.
_COLUMNS = {HolderKind.GROUP: "owner_group", HolderKind.PERSON: "owner"}

_SELECT_LIMITS = "SELECT quantity, most FROM quotas WHERE kind = $1 AND name = $2"
_SELECT_ALL_LIMITS = """
SELECT name, quantity, most FROM quotas WHERE kind = $1 AND ($2::text IS NULL OR name = $2)
"""
_LOCK = f"SELECT pg_advisory_xact_lock({_LOCKS}, hashtext($1 || ' ' || $2))"
_SET = """
INSERT INTO quotas (kind, name, quantity, most) VALUES ($1, $2, $3, $4)
ON CONFLICT (kind, name, quantity) DO UPDATE SET most = $4
"""
_REMOVE = "DELETE FROM quotas WHERE kind = $1 AND name = $2 AND quantity = $3"


class UncountedQuantity(Unprocessable):
    """Another service counts this quantity."""

    def __init__(self, quantity: Quantity, here: Iterable[Quantity]) -> None:
        super().__init__(f"{quantity} is not counted here: {', '.join(here)} are")


@dataclass(frozen=True, slots=True)
class CountedQuantities:
    """The quantities that a service counts.

    ``rows`` is the SQL FROM … WHERE … of the counted rows; the table has the columns ``owner`` and
    ``owner_group``. ``sums`` has an SQL aggregate for each quantity, which is 0 without rows.
    """

    rows: str
    sums: Mapping[Quantity, str]

    def used_by_one(self, kind: HolderKind) -> str:
        """Return the statement for the usage of one holder ($1)."""
        return f"SELECT {self._sums} {self.rows} AND {_COLUMNS[kind]} = $1"

    def used_by_each(self, kind: HolderKind) -> str:
        """Return the statement for the usage of each holder. $1 is a name, or null for all."""
        column = _COLUMNS[kind]
        return (
            f"SELECT {column} AS name, {self._sums} {self.rows} AND {column} IS NOT NULL"
            f" AND ($1::text IS NULL OR {column} = $1) GROUP BY {column}"
        )

    @property
    def _sums(self) -> str:
        """Return the aggregates, limited to the range of the column."""
        return ", ".join(
            f"least({each}, {_MAX_COUNTED})::bigint AS {quantity}"
            for quantity, each in self.sums.items()
        )

    async def set(
        self, connection: Connection, holder: QuotaHolder, limits: Mapping[Quantity, int | None]
    ) -> None:
        """Set the quotas of a holder. None removes a quota.

        Raises:
            UncountedQuantity: Another service counts the quantity.
        """
        if (
            elsewhere := next((each for each in limits if each not in self.sums), None)
        ) is not None:
            raise UncountedQuantity(elsewhere, self.sums)
        for quantity, number in sorted(limits.items()):
            key = (holder.kind, holder.name, quantity)
            if number is None:
                await connection.execute(_REMOVE, *key)
            else:
                await connection.execute(_SET, *key, number)

    async def bounded(self, connection: Connection, holder: QuotaHolder) -> dict[Quantity, Quota]:
        """Return the usage and the limit of each quantity for which the holder has a quota.

        The holder is locked, so that no other transaction adds to the usage until this one ends.
        """
        rows = await connection.fetch(_SELECT_LIMITS, holder.kind, holder.name)
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
    ) -> ReachedQuota | None:
        """Return the first quota that does not allow ``more``, or None.

        Args:
            connection: A connection in a transaction.
            holders: The holders in the order of ``quota_holders``, in which they are locked.
            more: The additional amount of each quantity.
        """
        for holder in holders:
            quotas = await self.bounded(connection, holder)
            for quantity, number in more.items():
                quota = quotas.get(quantity)
                if quota is not None and number and not quota.leaves(number):
                    return ReachedQuota(holder, quantity, quota, number)
        return None

    async def holdings(
        self, connection: Connection, kind: HolderKind, name: str | None = None
    ) -> list[Holding]:
        """Return usage and quotas of all holders, or of one, sorted by name."""
        used = {row["name"]: row for row in await connection.fetch(self.used_by_each(kind), name)}
        limits: dict[str, dict[str, int]] = {}
        for row in await connection.fetch(_SELECT_ALL_LIMITS, kind, name):
            limits.setdefault(row["name"], {})[row["quantity"]] = row["most"]
        return [
            Holding(
                name=each,
                has={
                    quantity: Quota(
                        used=used[each][quantity] if each in used else 0,
                        most=limits.get(each, {}).get(quantity),
                    )
                    for quantity in self.sums
                },
            )
            for each in sorted({*used, *limits})
        ]
