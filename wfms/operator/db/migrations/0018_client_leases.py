"""Leases of waiting clients; what a client owns ends with its lease."""

from alembic import op

revision = "operator0018"
down_revision = "operator0017"
branch_labels = None
depends_on = None

LEASES = """
CREATE TABLE client_leases (
    uid uuid PRIMARY KEY,
    -- Who may renew it.
    person text NOT NULL,
    chains uuid[] NOT NULL,
    datasets uuid[] NOT NULL,
    run_templates uuid[] NOT NULL,
    -- Whether the data of chains that have finished go as well.
    discard boolean NOT NULL,
    -- Until then it is renewed, or, once it has expired, worked on by one instance.
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
)
"""


def upgrade() -> None:
    """Create the table ``client_leases`` and its index."""
    op.execute(LEASES)
    op.execute("CREATE INDEX client_leases_end ON client_leases (expires_at)")


def downgrade() -> None:
    """Drop the table ``client_leases``."""
    op.execute("DROP TABLE client_leases")
