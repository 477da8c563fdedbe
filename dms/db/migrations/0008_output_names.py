"""An index for the names that people call outputs of chains by; made while everybody works on."""

from alembic import context, op

revision = "dms0008"
down_revision = "dms0007"
branch_labels = None
depends_on = None

INDEX = "datasets_output_name ON datasets ((meta->>'output_name')) WHERE meta ? 'chain'"


def upgrade() -> None:
    if context.is_offline_mode():
        op.execute(f"CREATE INDEX {INDEX}")
        return
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(
            "DROP INDEX CONCURRENTLY IF EXISTS datasets_output_name"
        )  # half made by one that was ended
        op.execute(f"CREATE INDEX CONCURRENTLY {INDEX}")


def downgrade() -> None:
    op.execute("DROP INDEX datasets_output_name")
