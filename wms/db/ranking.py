"""Statements on ranks."""

from wms.db.statement import statement

SET_RANK = statement("""
-- An operator's rank is the base that it comes back to.
UPDATE tasks SET base_rank = $2, rank = $2
WHERE uid = $1 AND state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}') RETURNING uid
""")

SELECT_TO_RANK = statement("""
-- Live tasks whose rank is $1 old: two instances do not age a task twice. In order of uid: see the lock rule.
SELECT uid, rank, base_rank, total, failed_attempts,
    CASE WHEN ready > 0 THEN extract(epoch FROM now() - coalesce(served_at, created_at))::float ELSE 0 END AS waited
FROM tasks
WHERE state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}') AND ranked_at <= now() - $1::interval
ORDER BY uid FOR NO KEY UPDATE
""")

SET_RANKS = """
UPDATE tasks AS t SET rank = r.rank, ranked_at = now()
FROM unnest($1::uuid[], $2::float[]) AS r(uid, rank) WHERE t.uid = r.uid
"""
