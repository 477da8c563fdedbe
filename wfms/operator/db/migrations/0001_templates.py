"""Templates, and the tables of outbox and inbox."""

from alembic import op

from sluice.servicekit.database import MESSAGING_TABLES

revision = "operator0001"
down_revision = None
branch_labels = None
depends_on = None

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
    for statement in (MESSAGING_TABLES + TEMPLATES).split(";"):
        if statement.strip():
            op.execute(statement)


def downgrade() -> None:
    for table in ("templates", "inbox", "outbox"):
        op.execute(f"DROP TABLE {table}")
