"""The table ``people`` and its statements: accounts."""

from typing import Any

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import Account, AccountChange, NewAccount
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection

_COLUMNS = "name, role, password IS NOT NULL AS has_password, created_at, disabled_at, groups"

_INSERT = f"""
INSERT INTO people (name, role, password, groups) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING {_COLUMNS}
"""

_SELECT_ALL = f"SELECT {_COLUMNS} FROM people ORDER BY name"

_SELECT_ONE = f"SELECT {_COLUMNS} FROM people WHERE name = $1"

_SELECT_PASSWORD = "SELECT password FROM people WHERE name = $1 AND disabled_at IS NULL"  # noqa: S105

_LOCK = f"""
-- Lock the account if the password still matches and it is enabled.
SELECT {_COLUMNS} FROM people
WHERE name = $1 AND password = $2 AND disabled_at IS NULL FOR SHARE
"""

_UPDATE = f"""
-- Columns whose value is NULL stay unchanged.
UPDATE people SET
    role = coalesce($2, role),
    password = coalesce($3, password),
    groups = coalesce($5, groups),
    disabled_at = CASE $4::boolean
        WHEN true THEN coalesce(disabled_at, now()) WHEN false THEN NULL ELSE disabled_at END
WHERE name = $1 RETURNING {_COLUMNS}
"""

_SET_ROLE = f"""
-- Columns whose value is NULL stay unchanged.
UPDATE people SET role = $2, groups = coalesce($3::text[], groups) WHERE subject = $1
RETURNING {_COLUMNS}
"""

_ENTER_PERSON = f"""
-- Return no row if the name belongs to another person.
INSERT INTO people (name, role, subject, groups) VALUES ($2, $3, $1, coalesce($4::text[], '{{}}'))
ON CONFLICT DO NOTHING RETURNING {_COLUMNS}
"""


async def insert_person(
    connection: Connection, new: NewAccount, *, password: str | None
) -> Account | None:
    """Insert an account with a hashed password. Return None if the name is taken."""
    row = await connection.fetchrow(_INSERT, new.name, new.role, password, new.groups)
    return None if row is None else _to_account(row)


async def list_people(connection: Connection) -> list[Account]:
    """Return all accounts in the order of their names."""
    return [_to_account(row) for row in await connection.fetch(_SELECT_ALL)]


async def find_person(connection: Connection, name: str) -> Account | None:
    """Return the account of this name, or None."""
    row = await connection.fetchrow(_SELECT_ONE, name)
    return None if row is None else _to_account(row)


async def find_password_hash(connection: Connection, name: str) -> str | None:
    """Return the hashed password, or None if nobody of this name may sign in with one."""
    password_hash: str | None = await connection.fetchval(_SELECT_PASSWORD, name)
    return password_hash


async def lock_person(connection: Connection, name: str, *, password: str) -> Account | None:
    """Lock the enabled account that has this name and hashed password, or return None."""
    row = await connection.fetchrow(_LOCK, name, password)
    return None if row is None else _to_account(row)


async def update_person(
    connection: Connection, name: str, change: AccountChange, *, password: str | None
) -> Account | None:
    """Change an account; ``password`` is hashed. Return None if there is no such account."""
    row = await connection.fetchrow(
        _UPDATE, name, change.role, password, change.disabled, change.groups
    )
    return None if row is None else _to_account(row)


async def enter_person(
    connection: Connection, subject: str, name: str, role: Role, *, groups: list[str] | None
) -> Account | None:
    """Create or update the account of a person whom an identity provider knows as ``subject``.

    The account keeps the name of the first sign-in.

    Args:
        connection: The connection to the database.
        subject: The provider's identifier of the person.
        name: The name for a new account.
        role: The role that the provider gives.
        groups: The groups that the provider gives. None leaves the groups as they are.

    Returns:
        The account, or None if another account has the name.
    """
    row = await connection.fetchrow(_SET_ROLE, subject, role, groups) or await connection.fetchrow(
        _ENTER_PERSON, subject, name, role, groups
    )
    return None if row is None else _to_account(row)


def to_person(account: Account) -> Person:
    """Return the principal of an account."""
    return Person(account.name, account.role, tuple(account.groups))


def _to_account(row: Any) -> Account:
    return Account(
        name=row["name"],
        role=Role(row["role"]),
        has_password=row["has_password"],
        created_at=row["created_at"],
        disabled_at=row["disabled_at"],
        groups=row["groups"],
    )
