"""Store the GPU memory that a job needs after an attempt that ran out of it."""

from alembic import op

revision = "wms0027"
down_revision = "wms0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE jobs
    -- MiB of each GPU, or of its part of one; NULL: as the task says.
    ADD COLUMN gpu_memory bigint
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE jobs DROP COLUMN gpu_memory")
