"""Secrets of a chain, with their versions, beside its parameters: lists of chains read no plans."""

from alembic import op

revision = "wfms_chains0012"
down_revision = "wfms_chains0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "-- By parameter: name and version, no values. Null where there are none.\n"
        "ALTER TABLE chains ADD COLUMN secrets jsonb"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE chains DROP COLUMN secrets")
