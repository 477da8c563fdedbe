"""How many chains groups may have at a time."""

from alembic import op

revision = "wfms_chains0016"
down_revision = "wfms_chains0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Null: any number.
    op.execute(
        "CREATE TABLE group_quotas (name text PRIMARY KEY, chains integer CHECK (chains >= 0))"
    )


def downgrade() -> None:
    op.execute("DROP TABLE group_quotas")
