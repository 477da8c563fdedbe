"""Triggers that make the database refuse illegal state transitions."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from sluice.servicekit.database import Connection
from wms.domain.transitions import JOB_MOVES, PILOT_MOVES, TASK_MOVES

_TABLES: dict[str, Mapping[Any, frozenset[Any]]] = {
    "tasks": TASK_MOVES,
    "jobs": JOB_MOVES,
    "pilots": PILOT_MOVES,
}


async def refuse_illegal_transitions(connection: Connection) -> None:
    """Make illegal transitions of a task, a job or a pilot fail with ``CheckViolationError``."""
    for table, moves in _TABLES.items():
        await connection.execute(_create_trigger(table, moves))


def _create_trigger(table: str, moves: Mapping[StrEnum, frozenset[StrEnum]]) -> str:
    legal = ", ".join(f"('{old}', '{new}')" for old, targets in moves.items() for new in targets)
    return f"""
CREATE FUNCTION legal_transition_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (OLD.state, NEW.state) NOT IN ({legal}) THEN
        RAISE check_violation USING MESSAGE =
            format('illegal transition in {table}: %s to %s', OLD.state, NEW.state);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER legal_transition BEFORE UPDATE OF state ON {table} FOR EACH ROW
    WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION legal_transition_of_{table}();
"""
