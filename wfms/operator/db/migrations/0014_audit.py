"""The audit log."""

from alembic import op

revision = "operator0014"
down_revision = "operator0013"
branch_labels = None
depends_on = None

AUDIT = """
CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Of a person: the same in all services that work for it.
    request uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('begun', 'changed', 'ended', 'told')),
    who text NOT NULL,
    role text NOT NULL,
    action text NOT NULL,
    remote text NOT NULL,
    outcome integer,
    facts jsonb NOT NULL
)
"""

CHAIN = """
-- In the order in which they were chained; digest: SHA-256 of the one before and the row.
CREATE TABLE audit_chain (
    number bigint PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32)
)
"""

FORGOTTEN = """
-- Rows up to this number were older than they are kept, and are gone.
CREATE TABLE audit_forgotten (
    number bigint PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
)
"""

ADDED_TO = """
-- Rows are added, and go when they are too old, in a transaction that says so.
CREATE FUNCTION audit_is_added_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit'
        AND current_setting('sluice.audit', true) = 'forget' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING
        MESSAGE = TG_TABLE_NAME || ' is added to, and nothing else',
        ERRCODE = 'insufficient_privilege';
END
$$
"""

TABLES = ("audit", "audit_chain", "audit_forgotten")


def upgrade() -> None:
    """Create the tables of the audit log, and the triggers that protect their rows."""
    for statement in (AUDIT, CHAIN, FORGOTTEN, ADDED_TO):
        op.execute(statement)
    op.execute("CREATE INDEX audit_request ON audit (request)")
    op.execute("CREATE INDEX audit_first ON audit (at, request) WHERE kind IN ('begun', 'told')")
    for table in TABLES:
        op.execute(
            f"""
CREATE TRIGGER {table}_rows BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION audit_is_added_to()
"""
        )
        op.execute(
            f"""
CREATE TRIGGER {table}_whole BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to()
"""
        )


def downgrade() -> None:
    """Drop the audit log."""
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION audit_is_added_to")
