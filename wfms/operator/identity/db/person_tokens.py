"""The tables ``person_tokens`` and ``person_sessions``: the credentials of people."""

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import Token
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection

_COLUMNS = "id, person, label, role, created_at, expires_at, used_at, revoked_at"

_INSERT_TOKEN = f"""
INSERT INTO person_tokens (person, label, role, digest, expires_at)
VALUES ($1, $2, $3, $4, now() + $5) RETURNING {_COLUMNS}
"""

_SELECT_TOKENS = f"""
-- Tokens of one person, or of all if $1 is NULL.
SELECT {_COLUMNS} FROM person_tokens WHERE $1::text IS NULL OR person = $1
ORDER BY created_at DESC, id
"""

#: The first key of the advisory locks on the tokens of people.
_LOCKS = 0x5148

_LOCK_TOKENS = f"SELECT pg_advisory_xact_lock({_LOCKS}, hashtext($1))"

_COUNT_VALID_TOKENS = """
SELECT count(*) FROM person_tokens
WHERE person = $1 AND revoked_at IS NULL AND expires_at > now()
"""

_REVOKE_TOKEN = f"""
-- Only tokens of this person, or of anybody if $2 is NULL. A repetition keeps the time of the first
-- revocation.
UPDATE person_tokens SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1 AND ($2::text IS NULL OR person = $2) RETURNING {_COLUMNS}
"""

_REVOKE_BY_DIGEST = (
    "UPDATE person_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE digest = $1"
    " RETURNING person"
)

_SELECT_HOLDER = """
-- With the role of the account, if there is one. Tokens of a disabled account are invalid.
SELECT token.id, token.person, token.role, people.role AS account_role, people.groups,
    token.used_at IS NULL OR token.used_at < now() - interval '1 minute' AS unseen
FROM person_tokens AS token LEFT JOIN people ON people.name = token.person
WHERE token.digest = $1 AND token.revoked_at IS NULL AND token.expires_at > now()
    AND people.disabled_at IS NULL
"""

_MARK_USED = "UPDATE person_tokens SET used_at = now() WHERE id = $1"

#: Sessions of a person at the same time.
MAX_SESSIONS = 100

_INSERT_SESSION = """
-- A session that a token began ends with the token.
INSERT INTO person_sessions (digest, person, role, ends_at, token)
SELECT $1, $2, $3, least(now() + $4, token.expires_at), token.id
FROM (SELECT 1) AS one LEFT JOIN person_tokens AS token ON token.digest = $5
"""

_SELECT_SESSION_PERSON = """
SELECT session.person, session.role, people.role AS account_role, people.groups
FROM person_sessions AS session LEFT JOIN people ON people.name = session.person
    LEFT JOIN person_tokens AS token ON token.id = session.token
WHERE session.digest = $1 AND session.ends_at > now() AND people.disabled_at IS NULL
    AND token.revoked_at IS NULL
"""

_END_OLDEST_SESSIONS = """
-- Keep the $2 newest sessions. Skip rows that another transaction is deleting.
DELETE FROM person_sessions WHERE digest = ANY(ARRAY(
    SELECT digest FROM person_sessions WHERE person = $1
    ORDER BY begun_at DESC, digest OFFSET $2 FOR UPDATE SKIP LOCKED))
"""

_END_SESSION = "DELETE FROM person_sessions WHERE digest = $1 RETURNING person"

_END_SESSIONS = """
DELETE FROM person_sessions WHERE digest = ANY(ARRAY(
    SELECT digest FROM person_sessions WHERE person = $1 ORDER BY digest FOR UPDATE))
"""

_END_DEVICE_LOGINS = "DELETE FROM device_logins WHERE person = $1"

_DELETE_ENDED_SESSIONS = """
-- Skip rows that another transaction is deleting.
DELETE FROM person_sessions WHERE digest = ANY(ARRAY(
    SELECT digest FROM person_sessions WHERE ends_at < now() FOR UPDATE SKIP LOCKED))
"""


def digest(secret: str) -> bytes:
    """Return the SHA-256 digest under which a secret is stored."""
    return hashlib.sha256(secret.encode(errors="replace")).digest()


async def insert_token(
    connection: Connection, person: Person, label: str, *, secret: str, life: timedelta
) -> Token:
    """Insert a token of a person, whose role is the most that the token may have."""
    row = await connection.fetchrow(
        _INSERT_TOKEN, person.name, label, person.role, digest(secret), life
    )
    return _to_token(row)


async def list_tokens(connection: Connection, person: str | None) -> list[Token]:
    """Return the tokens of a person, or of everybody for None, newest first."""
    return [_to_token(row) for row in await connection.fetch(_SELECT_TOKENS, person)]


async def count_valid_tokens(connection: Connection, person: str) -> int:
    """Count the valid tokens of a person. No token is added until the transaction ends."""
    await connection.execute(_LOCK_TOKENS, person)
    return int(await connection.fetchval(_COUNT_VALID_TOKENS, person))


async def mark_revoked(connection: Connection, token: UUID, *, person: str | None) -> Token | None:
    """Revoke a token of a person, or of anybody for None. Return None if it does not exist."""
    row = await connection.fetchrow(_REVOKE_TOKEN, token, person)
    return None if row is None else _to_token(row)


async def revoke_itself(connection: Connection, secret: str) -> str | None:
    """Revoke the token with this secret. Return the name of its person, or None."""
    person: str | None = await connection.fetchval(_REVOKE_BY_DIGEST, digest(secret))
    return person


async def find_token_holder(connection: Connection, secret: str) -> Person | None:
    """Return the person whom the token with this secret belongs to, or None."""
    row = await connection.fetchrow(_SELECT_HOLDER, digest(secret))
    if row is None:
        return None
    if row["unseen"]:
        await connection.execute(_MARK_USED, row["id"])
    return _to_person(row)


async def begin_session(
    connection: Connection, person: Person, *, secret: str, life: timedelta, token: str
) -> None:
    """Begin a session, with the token that it was started by or an empty text.

    The oldest session ends if the person has too many.
    """
    await connection.execute(_END_OLDEST_SESSIONS, person.name, MAX_SESSIONS - 1)
    await connection.execute(
        _INSERT_SESSION, digest(secret), person.name, person.role, life, digest(token)
    )


async def find_person_by_session(connection: Connection, secret: str) -> Person | None:
    """Return the person of the session with this secret, or None."""
    row = await connection.fetchrow(_SELECT_SESSION_PERSON, digest(secret))
    return None if row is None else _to_person(row)


async def end_session(connection: Connection, secret: str) -> str | None:
    """End the session with this secret. Return the name of its person, or None."""
    person: str | None = await connection.fetchval(_END_SESSION, digest(secret))
    return person


async def end_all_sessions(connection: Connection, person: str) -> None:
    """End all sessions of a person, and the device logins that are not completed."""
    await connection.execute(_END_SESSIONS, person)
    await connection.execute(_END_DEVICE_LOGINS, person)


async def forget_ended_sessions(connection: Connection) -> None:
    """Delete the sessions whose time is over."""
    await connection.execute(_DELETE_ENDED_SESSIONS)


def _to_person(row: Any) -> Person:
    """Return the person with the lesser role of the account and of the token or session."""
    token_role, account_role = Role(row["role"]), row["account_role"]
    role = token_role if account_role is None else token_role.least(Role(account_role))
    return Person(row["person"], role, tuple(row["groups"] or ()))


def _to_token(row: Any) -> Token:
    return Token.model_construct(**{**row, "role": Role(row["role"])})
