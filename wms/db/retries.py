"""Statements for giving jobs another round, by request."""

from wms.db.statement import statement

RETRY_JOBS = statement("""
-- Failed and held jobs of the task ($2: only this one, NULL: all) start anew; rows tell their state before and class of error.
WITH troubled AS (
    SELECT id, state, error_class FROM jobs
    WHERE task_uid = $1 AND state IN ('{job.FAILED}', '{job.HELD}') AND ($2::bigint IS NULL OR id = $2)
), moved AS (
    UPDATE jobs AS j SET
        state = '{job.READY}', failures = 0, losses = 0, not_before = now(), ended_at = NULL, pilot = NULL
    FROM troubled AS t WHERE j.id = t.id AND j.state = t.state
)
SELECT state, error_class FROM troubled
""")

COUNT_RETRIED = """
UPDATE tasks SET ready = ready + $2 + $3, failed = failed - $2, held = held - $3, errors = $4 WHERE uid = $1
"""

SELECT_TASK_OF_JOB = "SELECT task_uid FROM jobs WHERE id = $1"
