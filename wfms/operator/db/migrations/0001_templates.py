"""Templates, and the tables of outbox and inbox."""

from alembic import op

revision = "operator0001"
down_revision = None
branch_labels = None
depends_on = None

MESSAGING = """
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id text NOT NULL UNIQUE,
    destination text NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz
);
CREATE TABLE inbox (
    queue text NOT NULL,
    message_id text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, message_id)
);
CREATE INDEX inbox_applied_at ON inbox (applied_at);
"""

TEMPLATES = """
CREATE TABLE templates (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    -- As it was written, and the same as JSON.
    text text NOT NULL,
    template jsonb NOT NULL CHECK (jsonb_typeof(template) = 'object'),
    plan jsonb NOT NULL CHECK (jsonb_typeof(plan) = 'object'),
    warnings jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(warnings) = 'array'),
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    UNIQUE (name, version),
    CHECK (deleted_at IS NULL OR deleted_at >= created_at)
);
-- The list that the intake polls.
CREATE INDEX templates_live ON templates (name, version DESC) WHERE deleted_at IS NULL
"""


def upgrade() -> None:
    """Create the tables ``templates``, ``outbox`` and ``inbox``."""
    for statement in (MESSAGING + TEMPLATES).split(";"):
        if statement.strip():
            op.execute(statement)


def downgrade() -> None:
    """Drop the three tables."""
    for table in ("templates", "inbox", "outbox"):
        op.execute(f"DROP TABLE {table}")
