"""What pilots have, and which of it runs: the one definition, for whatever counts jobs in flight by
pilot."""

#: A subquery: pilot → ``leased``, ``running`` (as its heartbeats say, so short ones never are), and
#: ``busy``: how many run. A pilot takes jobs ahead, and starts them in the order in which it was
#: given them as far as its slots and its node's cores, memory and GPUs go, where one that finds no
#: room lets none pass (``pilot/domain/core.py``). So those run that it said to have begun, and then
#: the next ones, up to what it has. Jobs are found by the index jobs_in_flight.
IN_FLIGHT = """
    SELECT pilot, count(*) FILTER (WHERE state = '{job.LEASED}') AS leased,
        count(*) FILTER (WHERE state = '{job.RUNNING}') AS running,
        count(*) FILTER (WHERE place <= slots AND (state = '{job.RUNNING}'
            OR cores <= (resources->>'cores')::float + 1e-6 AND ram <= (resources->>'ram')::bigint
            AND coalesce(gpus, 0) <= coalesce(jsonb_array_length(resources->'gpus'), 0) + 1e-6
        )) AS busy
    FROM (
        SELECT j.pilot, j.state, p.slots, p.resources, row_number() OVER turn AS place,
            sum(t.cores) OVER turn AS cores, sum(coalesce(j.ram, t.ram)) OVER turn AS ram,
            sum(coalesce((t.needs->'gpu'->>'share')::float, (t.needs->'gpu'->>'least')::float, 1))
                FILTER (WHERE t.device_type = 'gpu') OVER turn AS gpus
        FROM jobs AS j JOIN tasks AS t ON t.uid = j.task_uid JOIN pilots AS p ON p.uid = j.pilot
        WHERE j.state IN ('{job.LEASED}', '{job.RUNNING}')
        WINDOW turn AS (
            PARTITION BY j.pilot ORDER BY j.state = '{job.RUNNING}' DESC, j.leased_at, j.id
            ROWS UNBOUNDED PRECEDING)
    ) AS turns GROUP BY pilot
"""
