"""Let instances claim the deletions that they carry out."""

from alembic import op

revision = "wfms_chains0009"
down_revision = "wfms_chains0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
ALTER TABLE deletions
    -- Who is at it, and until when.
    ADD COLUMN claim_token uuid,
    ADD COLUMN claimed_until timestamptz,
    ADD CONSTRAINT deletions_claimed_for_a_time
        CHECK ((claim_token IS NULL) = (claimed_until IS NULL))
""")


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE deletions DROP COLUMN claim_token, DROP COLUMN claimed_until")
