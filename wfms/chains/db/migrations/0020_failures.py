"""Keep the input of failed jobs until somebody decides, and record whether an input is a copy."""

from alembic import op

revision = "wfms_chains0020"
down_revision = "wfms_chains0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
ALTER TABLE chains
    -- Of the first input: whoever registered it has the originals of its files.
    ADD COLUMN input_copied boolean NOT NULL DEFAULT false,
    -- Jobs of it failed, and nobody has decided what becomes of what they read.
    ADD COLUMN unsettled boolean NOT NULL DEFAULT false
""")
    op.execute("CREATE INDEX chains_unsettled ON chains (position) WHERE unsettled")
    op.execute("CREATE INDEX chains_unsettled_inputs ON chains (dataset_uid) WHERE unsettled")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX chains_unsettled_inputs")
    op.execute("DROP INDEX chains_unsettled")
    op.execute("ALTER TABLE chains DROP COLUMN unsettled, DROP COLUMN input_copied")
