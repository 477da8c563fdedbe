"""Watches, and the data sets whose deletion was asked for."""

from enum import StrEnum

from alembic import op

from sluice.contracts.states import WatchKind, WatchState
from sluice.servicekit.database import MESSAGING_TABLES

revision = "wfms_watcher0001"
down_revision = None


def _names(states: type[StrEnum]) -> str:
    return ", ".join(f"'{state}'" for state in states)


WATCHES = f"""
CREATE TABLE watches (
    uid uuid PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    kind text NOT NULL CHECK (kind IN ({_names(WatchKind)})),
    chain_uid uuid NOT NULL,
    step text,
    dat_in_uid uuid NOT NULL,
    dat_out_uid uuid NOT NULL,
    log_out_uid uuid,
    state text NOT NULL CHECK (state IN ({_names(WatchState)})),
    failed_jobs integer NOT NULL DEFAULT 0 CHECK (failed_jobs >= 0),
    reason text NOT NULL DEFAULT '',
    -- The chain service knows of the end, and what it releases is in the outbox.
    reported boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    claim_token uuid,
    claimed_until timestamptz,
    CHECK ((state = '{WatchState.IN_PROGRESS}') = (ended_at IS NULL)),
    CHECK (NOT reported OR state <> '{WatchState.IN_PROGRESS}'),
    CHECK ((claim_token IS NULL) = (claimed_until IS NULL))
)
"""

RELEASES = """
-- Data sets whose deletion was asked for: each once, however often it is named (invariant 4).
CREATE TABLE releases (
    dataset_uid uuid PRIMARY KEY,
    sent_at timestamptz NOT NULL
)
"""

INDEXES = (
    "CREATE INDEX watches_open ON watches (uid) WHERE NOT reported",
    "CREATE INDEX watches_claimed ON watches (claim_token) WHERE claim_token IS NOT NULL",
)


def upgrade() -> None:
    for statement in MESSAGING_TABLES.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for statement in (WATCHES, RELEASES, *INDEXES):
        op.execute(statement)
