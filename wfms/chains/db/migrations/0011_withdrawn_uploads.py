"""A chain can be canceled while its output is on its way to the output storage."""

from alembic import op

revision = "wfms_chains0011"
down_revision = "wfms_chains0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE chains DROP CONSTRAINT chains_check4")


def downgrade() -> None:
    op.execute("UPDATE chains SET upload_asked = false WHERE state = 'canceled'")
    op.execute(
        "ALTER TABLE chains ADD CONSTRAINT chains_check4"
        " CHECK (state <> 'canceled' OR NOT upload_asked)"
    )
