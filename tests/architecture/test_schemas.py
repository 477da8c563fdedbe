"""The databases know the states: a column that holds one takes the contract's names, all of them
and no other."""

import inspect
import re
from enum import StrEnum

import asyncpg
import pytest

from scripts.docs.services import SERVICES
from sluice.contracts import states
from sluice.servicekit.migrate import Migrator
from tests.conftest import DatabaseFactory

ENUMS = {
    frozenset(map(str, value)): name
    for name, value in inspect.getmembers(states, inspect.isclass)
    if issubclass(value, StrEnum) and value is not StrEnum
}

COLUMNS = """
SELECT table_name AS "table", column_name AS "column", data_type AS type FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = ANY('{state,status,outcome,mode,kind,type,error_class,reported}')
"""

CHECKS = """
SELECT relname AS "table", pg_get_constraintdef(c.oid) AS definition
FROM pg_constraint AS c JOIN pg_class ON pg_class.oid = conrelid WHERE contype = 'c'
"""

#: ``CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text])))``
NAMES = re.compile(r"^CHECK \(\(+(?P<column>\w+) = ANY \(ARRAY\[(?P<names>[^\]]*)\]\)\)+$")


async def checked_names(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> dict[tuple[str, str], frozenset[str]]:
    """(table, column) → the names that its check lets in."""
    found = {}
    for row in await connection.fetch(CHECKS):
        match = NAMES.match(row["definition"])
        if match:
            found[row["table"], match["column"]] = frozenset(
                re.findall(r"'([^']*)'", match["names"])
            )
    return found


@pytest.mark.parametrize("service", SERVICES)
async def test_columns_of_states_take_the_contracts_names_and_no_other(
    service: str, make_database: DatabaseFactory
) -> None:
    url = await make_database()
    await Migrator(url, f"{service}.db.migrations").start()
    connection = await asyncpg.connect(url)
    try:
        checked = await checked_names(connection)
        columns = [
            (row["table"], row["column"])
            for row in await connection.fetch(COLUMNS)
            if row["type"] == "text"
        ]
    finally:
        await connection.close()
    assert not [column for column in columns if column not in checked], (
        "these columns take any text"
    )
    unknown = {
        column: sorted(names)
        for column, names in checked.items()
        if column in columns and names not in ENUMS
    }
    assert not unknown, "these take other names than any contract has"
