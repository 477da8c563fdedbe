"""Add reruns of chains, and keep data of failed and canceled chains for a while."""

from alembic import op

revision = "wfms_chains0007"
down_revision = "wfms_chains0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
ALTER TABLE chains
    ADD COLUMN rerun_of uuid,
    -- How long what lies between its steps stays when it fails or is canceled, and until when it
    -- does.
    ADD COLUMN keep_failed interval NOT NULL DEFAULT '0',
    ADD COLUMN keep_until timestamptz
""")
    op.execute("""
ALTER TABLE steps
    -- The chain whose task did it: its data sets are taken over …
    ADD COLUMN taken_from uuid,
    -- … or the outputs of those of that task's jobs that finished.
    ADD COLUMN jobs_from uuid
""")
    op.execute("CREATE INDEX chains_kept ON chains (keep_until) WHERE keep_until IS NOT NULL")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX chains_kept")
    op.execute("ALTER TABLE steps DROP COLUMN jobs_from, DROP COLUMN taken_from")
    op.execute(
        "ALTER TABLE chains DROP COLUMN keep_until, DROP COLUMN keep_failed, DROP COLUMN rerun_of"
    )
