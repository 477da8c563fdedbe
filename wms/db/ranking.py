"""Statements on ranks."""

from wms.db.statement import statement

SET_RANK = statement("""
-- An operator's rank is the base that it comes back to, and nothing is added to it any more.
UPDATE tasks SET base_rank = $2, rank = $2, boost = 0, boost_reason = '', ranked_by_hand = true
WHERE uid = $1 AND state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}') RETURNING uid
""")

SELECT_TO_RANK = statement("""
-- Live tasks whose rank is $1 old: two instances do not age a task twice. In order of uid: see the lock rule.
SELECT uid, rank, base_rank + boost AS base_rank, total, failed_attempts,
    CASE WHEN ready > 0 THEN extract(epoch FROM now() - coalesce(served_at, created_at))::float ELSE 0 END AS waited
FROM tasks
WHERE state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}') AND ranked_at <= now() - $1::interval
ORDER BY uid FOR NO KEY UPDATE
""")

SET_RANKS = """
UPDATE tasks AS t SET rank = r.rank, ranked_at = now()
FROM unnest($1::uuid[], $2::float[]) AS r(uid, rank) WHERE t.uid = r.uid
"""

SET_BOOSTS = statement("""
-- The live tasks named ($1, for reasons $2) are ranked higher by $3, the others no more; those that a person has ranked stay. In
-- order of uid: see the lock rule. What is so already is left alone.
WITH changing AS MATERIALIZED (
    SELECT t.uid, t.boost AS before, w.reason, CASE WHEN w.uid IS NULL THEN 0 ELSE $3::float END AS boost
    FROM tasks AS t LEFT JOIN unnest($1::uuid[], $2::text[]) AS w(uid, reason) ON w.uid = t.uid
    WHERE t.state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}') AND NOT t.ranked_by_hand
        AND (t.boost, t.boost_reason) IS DISTINCT FROM (CASE WHEN w.uid IS NULL THEN 0 ELSE $3::float END, coalesce(w.reason, ''))
    ORDER BY t.uid FOR NO KEY UPDATE OF t
)
UPDATE tasks AS t SET rank = t.rank + c.boost - c.before, boost = c.boost, boost_reason = coalesce(c.reason, '')
FROM changing AS c WHERE t.uid = c.uid RETURNING t.boost
""")

SELECT_BOOST = (
    "SELECT boost, boost_reason FROM tasks WHERE uid = $1 AND ended_at IS NULL AND boost > 0"
)
