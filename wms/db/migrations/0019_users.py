"""Add nodes without a sandbox whose pilots have a user for each slot."""

from alembic import op

revision = "wms0019"
down_revision = "wms0018"
branch_labels = None
depends_on = None

_OLD = "sandbox IN ('namespaces', 'none')"
_NEW = "sandbox IN ('namespaces', 'users', 'none')"


def _change(check: str) -> None:
    # The table is small, so its rows are checked at once.
    op.execute(f"""
ALTER TABLE pilots
    DROP CONSTRAINT pilots_sandbox_check, ADD CONSTRAINT pilots_sandbox_check CHECK ({check})
""")


def upgrade() -> None:
    """Apply the revision."""
    _change(_NEW)


def downgrade() -> None:
    """Revert the revision."""
    op.execute("UPDATE pilots SET sandbox = 'none' WHERE sandbox = 'users'")
    _change(_OLD)
