"""A chain may be discarded: nothing of it is kept once it is over."""

from alembic import op

revision = "wfms_chains0004"
down_revision = "wfms_chains0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE chains ADD COLUMN discarded boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    op.execute("ALTER TABLE chains DROP COLUMN discarded")
