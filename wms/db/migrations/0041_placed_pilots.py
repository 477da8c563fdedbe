"""Store the kind of warm worker that the placement policy has told a pilot to load."""

from alembic import op

revision = "wms0041"
down_revision = "wms0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE pilots
    -- Told by a round of the policy, until the pilot has it loaded; NULL: nothing. A person's order
    -- (to_load) goes before it.
    ADD COLUMN placed_kind text,
    ADD COLUMN placed_at timestamptz
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN placed_at, DROP COLUMN placed_kind")
