"""Accounts of people, their tokens, and their sessions in browsers."""

from alembic import op

revision = "operator0010"
down_revision = "operator0009"
branch_labels = None
depends_on = None

ROLES = "('viewer', 'submitter', 'shift', 'admin')"

PEOPLE = f"""
CREATE TABLE people (
    name text PRIMARY KEY,
    role text NOT NULL CHECK (role IN {ROLES}),
    -- Argon2id, with its salt and its costs (RFC 9106); null: signs in with tokens alone.
    password text,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- A name is never given to another person: accounts are disabled, not deleted.
    disabled_at timestamptz
)
"""

TOKENS = f"""
CREATE TABLE person_tokens (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- Who has no account (the system's own token) has tokens, too.
    person text NOT NULL,
    label text NOT NULL,
    -- The most that it may; its person's role goes beyond nothing of it.
    role text NOT NULL CHECK (role IN {ROLES}),
    -- SHA-256 of 256 random bits: what is sent cannot be found from it.
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    revoked_at timestamptz
)
"""

SESSIONS = f"""
CREATE TABLE person_sessions (
    -- SHA-256 of what the browser has.
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    person text NOT NULL,
    role text NOT NULL CHECK (role IN {ROLES}),
    begun_at timestamptz NOT NULL DEFAULT now(),
    ends_at timestamptz NOT NULL,
    -- By which it began, and with which it ends.
    token uuid
)
"""


def upgrade() -> None:
    """Create the tables of accounts, tokens and sessions."""
    op.execute(PEOPLE)
    op.execute(TOKENS)
    op.execute("CREATE INDEX person_tokens_person ON person_tokens (person, created_at)")
    op.execute(SESSIONS)
    op.execute("CREATE INDEX person_sessions_person ON person_sessions (person)")
    op.execute("CREATE INDEX person_sessions_end ON person_sessions (ends_at)")


def downgrade() -> None:
    """Drop the tables of accounts, tokens and sessions."""
    for table in ("person_sessions", "person_tokens", "people"):
        op.execute(f"DROP TABLE {table}")
