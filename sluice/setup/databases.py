"""A login and a database for each service, so that no service can read another's tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.servicekit.database import CANNOT_CONNECT, CONNECT_TIMEOUT, CREATE_OPTIONS, error_text
from sluice.setup.logins import ServiceLogin
from sluice.setup.scram import matches_password, scram_verifier

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = object  # the class is generic only for the type checker

#: The key of the lock that allows one setup at a time: any number that nothing else uses.
SETUP_LOCK = 7_582_393

SELECT_ROLE = """
-- The rights of a role, and how its password is stored.
SELECT
    rolsuper,
    rolcanlogin,
    rolcreaterole OR rolcreatedb OR rolbypassrls AS administers,
    rolreplication,
    rolpassword
FROM pg_authid WHERE rolname = $1
"""

SELECT_OWNER = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = $1"

SELECT_GUESTS = """
-- Roles other than the owner with rights on a database. NULL stands for everybody.
SELECT DISTINCT CASE WHEN granted.grantee <> 0 THEN pg_get_userbyid(granted.grantee) END AS guest
FROM pg_database AS d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS granted
WHERE d.datname = $1 AND granted.grantee <> d.datdba
"""

SELECT_FOREIGN_RELATIONS = """
-- Statements that transfer tables, views and sequences of other owners to the login. Sequences of
-- columns follow their tables.
SELECT format(
    'ALTER %s %s OWNER TO %I',
    CASE c.relkind
        WHEN 'v' THEN 'VIEW'
        WHEN 'm' THEN 'MATERIALIZED VIEW'
        WHEN 'S' THEN 'SEQUENCE'
        ELSE 'TABLE'
    END,
    c.oid::regclass, $1::text
)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND n.nspname NOT LIKE 'pg\\_%'
  AND n.nspname <> 'information_schema'
  AND pg_get_userbyid(c.relowner) <> $1
  AND NOT EXISTS (
      SELECT FROM pg_depend AS d
      WHERE d.classid = 'pg_class'::regclass
        AND d.objid = c.oid
        AND d.deptype IN ('a', 'i', 'e')
  )
"""


async def set_up_databases(
    admin_url: str, logins: Sequence[ServiceLogin], backup: ServiceLogin | None = None
) -> list[str]:
    """Make what is missing, correct what differs, and return a message for each change.

    ``backup`` may stream what the server writes, and owns nothing.

    Raises:
        NotAvailable: The server does not answer, or refuses the administrator.
        Conflict: An existing database or login belongs to something else.
    """
    admin = await _connect(admin_url)
    try:
        if not await admin.fetchval("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
            raise Conflict(
                "the administrator's login is not a superuser of PostgreSQL: only a superuser can"
                " compare passwords"
            )
        await admin.fetchval("SELECT pg_advisory_lock($1)", SETUP_LOCK)
        changes = [change for login in logins for change in await _set_up_role(admin, login)]
        if backup is not None:
            changes += await _set_up_role(admin, backup, replication=True)
        users = {login.user for login in logins}
        for login in logins:
            changes += await _set_up_database(admin, login, other_users=users - {login.user})
            changes += await _take_over_tables(admin_url, login)
        return changes
    finally:
        await admin.close(timeout=CONNECT_TIMEOUT)


async def _connect(url: str, *, database: str | None = None) -> Connection:
    try:
        return await asyncpg.connect(url, database=database, timeout=CONNECT_TIMEOUT)
    except CANNOT_CONNECT as error:
        raise NotAvailable(
            f"PostgreSQL does not let the administrator in: {error_text(error)}"
        ) from error


async def _set_up_role(
    admin: Connection, login: ServiceLogin, *, replication: bool = False
) -> list[str]:
    role = await admin.fetchrow(SELECT_ROLE, login.user)
    streaming = "REPLICATION" if replication else "NOREPLICATION"
    if role is None:
        create = f"CREATE ROLE %I LOGIN {streaming} PASSWORD %L"
        await _execute(admin, create, login.user, scram_verifier(login.password))
        return [f"login {login.user} made, for {login.service}"]
    if role["rolsuper"]:
        raise Conflict(
            f"{login.variable}: {login.user} is a superuser of PostgreSQL; a service needs its own"
            " login"
        )
    changes = []
    if role["administers"] or not role["rolcanlogin"] or role["rolreplication"] != replication:
        await _execute(
            admin,
            f"ALTER ROLE %I LOGIN NOCREATEROLE NOCREATEDB {streaming} NOBYPASSRLS",
            login.user,
        )
        changes.append(f"login {login.user}: rights set to those of {login.service}")
    if not matches_password(login.password, role["rolpassword"]):
        await _execute(
            admin, "ALTER ROLE %I PASSWORD %L", login.user, scram_verifier(login.password)
        )
        changes.append(
            f"login {login.user}: password taken over from the settings of {login.service}"
        )
    return changes


async def _set_up_database(
    admin: Connection, login: ServiceLogin, *, other_users: set[str]
) -> list[str]:
    changes = []
    owner = await admin.fetchval(SELECT_OWNER, login.place)
    if owner is None:
        await _execute(
            admin, f"CREATE DATABASE %I OWNER %I {CREATE_OPTIONS}", login.place, login.user
        )
        changes.append(f"database {login.place} made, for {login.service}")
    elif owner in other_users:
        raise Conflict(
            f"{login.variable}: the database {login.place} belongs to {owner}, which is another"
            " service's login"
        )
    elif owner != login.user:
        await _execute(admin, "ALTER DATABASE %I OWNER TO %I", login.place, login.user)
        changes.append(f"database {login.place} belongs to {login.user} now (before: {owner})")
    guests = [row["guest"] for row in await admin.fetch(SELECT_GUESTS, login.place)]
    if None in guests:
        await _execute(admin, "REVOKE ALL ON DATABASE %I FROM PUBLIC", login.place)
    for guest in other_users & set(guests):
        await _execute(admin, "REVOKE ALL ON DATABASE %I FROM %I", login.place, guest)
        changes.append(f"database {login.place}: no longer open to {guest}")
    if None in guests and owner is not None:
        changes.append(f"database {login.place}: no longer open to everybody")
    return changes


async def _take_over_tables(admin_url: str, login: ServiceLogin) -> list[str]:
    """Change the owner of the tables in a database that another login has filled."""
    inside = await _connect(admin_url, database=login.place)
    try:
        statements = [
            str(row[0]) for row in await inside.fetch(SELECT_FOREIGN_RELATIONS, login.user)
        ]
        async with inside.transaction():
            for statement in statements:
                await inside.execute(statement)
    finally:
        await inside.close(timeout=CONNECT_TIMEOUT)
    return (
        [f"database {login.place}: {len(statements)} tables belong to {login.user} now"]
        if statements
        else []
    )


async def _execute(admin: Connection, template: str, *values: str) -> None:
    """Run a statement in which PostgreSQL itself has quoted names (``%I``) and texts (``%L``)."""
    await admin.execute(
        await admin.fetchval("SELECT format($1, VARIADIC $2::text[])", template, list(values))
    )
