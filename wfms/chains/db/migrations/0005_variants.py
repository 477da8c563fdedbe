"""Distinguish chains of one data set and template version by given parameters (invariant 1)."""

from alembic import op

revision = "wfms_chains0005"
down_revision = "wfms_chains0004"
branch_labels = None
depends_on = None

BEFORE = ("dataset_uid", "template_id", "template_version")


def _unique(*columns: str) -> str:
    name = f"chains_{'_'.join(columns)}_key"
    return f"ADD CONSTRAINT {name} UNIQUE ({', '.join(columns)})"


def upgrade() -> None:
    """Apply the change.

    Existing chains, and those that the release before still creates, count as started by
    themselves.
    """
    op.execute("ALTER TABLE chains ADD COLUMN variant text NOT NULL DEFAULT ''")
    op.execute(
        f"ALTER TABLE chains DROP CONSTRAINT chains_{'_'.join(BEFORE)}_key,"
        f" {_unique(*BEFORE, 'variant')}"
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute(
        f"ALTER TABLE chains DROP CONSTRAINT chains_{'_'.join(BEFORE)}_variant_key,"
        f" {_unique(*BEFORE)}"
    )
    op.execute("ALTER TABLE chains DROP COLUMN variant")
