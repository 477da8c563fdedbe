"""Commands that wait for approval in a browser."""

from alembic import op

revision = "operator0015"
down_revision = "operator0014"
branch_labels = None
depends_on = None

ROLES = "('viewer', 'submitter', 'shift', 'admin')"

LOGINS = f"""
CREATE TABLE device_logins (
    -- SHA-256 of what the command has.
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- What people compare.
    user_code text NOT NULL UNIQUE,
    label text NOT NULL,
    -- The address that it was asked from.
    remote text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    -- Who has said what is to become of it: null: nobody yet.
    person text,
    -- The most that the token may; null: it is refused.
    role text CHECK (role IN {ROLES}),
    CHECK (person IS NOT NULL OR role IS NULL)
)
"""


def upgrade() -> None:
    """Create the table ``device_logins`` and its indexes."""
    op.execute(LOGINS)
    op.execute("CREATE INDEX device_logins_person ON device_logins (person)")
    op.execute("CREATE INDEX device_logins_end ON device_logins (expires_at)")


def downgrade() -> None:
    """Drop the table ``device_logins``."""
    op.execute("DROP TABLE device_logins")
