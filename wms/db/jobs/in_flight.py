"""The one definition of the jobs that pilots have, and of those that run."""

#: SQL: number of GPUs (or part of one) that a job of task ``t`` takes at least; NULL if none.
_GPUS = """CASE WHEN t.device_type = 'gpu' THEN
    coalesce((t.needs->'gpu'->>'least')::float, 1) * coalesce((t.needs->'gpu'->>'share')::float, 1)
END"""

#: SQL: MiB of disk that a job of task ``t`` requests; 0 if it has the default request.
_DISK = "CASE WHEN t.disk <> 1024 THEN t.disk ELSE 0 END"

_TURN = """PARTITION BY j.pilot{more}
    ORDER BY j.state = '{{job.RUNNING}}' DESC, j.leased_at, j.id ROWS UNBOUNDED PRECEDING"""

#: Subquery: every attempt that a pilot has now, with fields of its job.
ATTEMPTS_IN_FLIGHT = """
    SELECT id, task_uid, seq, state, attempt, pilot, leased_at, started_at, ram
    FROM jobs WHERE state IN ('{job.LEASED}', '{job.RUNNING}')
    UNION ALL SELECT j.id, j.task_uid, j.seq,
        CASE WHEN s.started_at IS NULL THEN '{job.LEASED}' ELSE '{job.RUNNING}' END,
        s.attempt, s.pilot, s.leased_at, s.started_at, j.ram
    FROM duplicate_attempts AS s JOIN jobs AS j ON j.id = s.job_id WHERE s.lease_until IS NOT NULL
"""

#: Subquery: for each job and pilot, whether the pilot's own named resources suffice for the job and
#: all jobs before it.
_NAMED_RESOURCES = f"""
    SELECT id, pilot, bool_and(amount <= offered) AS fits FROM (
        SELECT j.id, j.pilot, (p.resources->'named'->>n.name)::float + 1e-6 AS offered,
            sum(n.amount::float) OVER ({_TURN.format(more=", n.name")}) AS amount
        FROM ({ATTEMPTS_IN_FLIGHT}) AS j JOIN tasks AS t ON t.uid = j.task_uid
        JOIN pilots AS p ON p.uid = j.pilot
        CROSS JOIN LATERAL jsonb_each_text(t.needs->'named') AS n (name, amount)
        WHERE t.needs ? 'named' AND p.resources->'named' ? n.name
    ) AS named GROUP BY id, pilot
"""

#: Subquery: each job of each pilot, and whether it ``runs``.
#:
#: A pilot leases jobs ahead and starts them in order, up to its slots and the node's capacity. A
#: job that does not fit lets no other job pass (``pilot/domain/core.py``). So these jobs run: those
#: that the pilot reported as started, and then the next ones up to its capacity. Jobs are found by
#: the index jobs_in_flight.
_TURNS = f"""
    SELECT id, pilot, state, own.task_uid, own.cores, own.ram, own.disk, own.gpus,
        own.place <= slots AND (state = '{{job.RUNNING}}' OR (
            own.all_cores <= (resources->>'cores')::float + 1e-6
            AND own.all_ram <= (resources->>'ram')::bigint
            AND own.all_disk <= (resources->>'disk')::bigint
            AND coalesce(own.all_gpus, 0)
                <= coalesce(jsonb_array_length(resources->'gpus'), 0) + 1e-6
            AND coalesce(named.fits, true)
        )) AS runs
    FROM (
        SELECT j.id, j.pilot, j.state, j.task_uid, p.slots, p.resources,
            t.cores, coalesce(j.ram, t.ram) AS ram, {_DISK} AS disk, {_GPUS} AS gpus,
            row_number() OVER turn AS place,
            sum(t.cores) OVER turn AS all_cores, sum(coalesce(j.ram, t.ram)) OVER turn AS all_ram,
            sum({_DISK}) OVER turn AS all_disk, sum({_GPUS}) OVER turn AS all_gpus
        FROM ({ATTEMPTS_IN_FLIGHT}) AS j JOIN tasks AS t ON t.uid = j.task_uid
        JOIN pilots AS p ON p.uid = j.pilot
        WINDOW turn AS ({_TURN.format(more="")})
    ) AS own LEFT JOIN ({_NAMED_RESOURCES}) AS named USING (id, pilot)
"""

#: Subquery: for each pilot ``leased``, ``running`` (as reported by heartbeats, which miss short
#: jobs), ``busy`` (number that run), and the allocation of these on its node.
IN_FLIGHT = f"""
    SELECT pilot, count(*) FILTER (WHERE state = '{{job.LEASED}}') AS leased,
        count(*) FILTER (WHERE state = '{{job.RUNNING}}') AS running,
        count(*) FILTER (WHERE runs) AS busy,
        coalesce(sum(cores) FILTER (WHERE runs), 0) AS cores,
        coalesce(sum(ram) FILTER (WHERE runs), 0) AS ram,
        coalesce(sum(disk) FILTER (WHERE runs), 0) AS disk,
        coalesce(sum(gpus) FILTER (WHERE runs), 0) AS gpus,
        (SELECT jsonb_object_agg(name, amount) FROM (
            SELECT n.name, sum(n.amount::float) AS amount
            FROM unnest(array_agg(task_uid) FILTER (WHERE runs)) AS own (uid)
            JOIN tasks AS t ON t.uid = own.uid
            CROSS JOIN LATERAL jsonb_each_text(t.needs->'named') AS n (name, amount)
            WHERE t.needs ? 'named' GROUP BY n.name
        ) AS named) AS named
    FROM ({_TURNS}) AS turns GROUP BY pilot
"""

#: SQL: the allocation on the node of pilot ``p`` with its row ``f`` of ``IN_FLIGHT``.
ALLOCATION = """jsonb_build_object('cores', coalesce(f.cores, 0), 'ram', coalesce(f.ram, 0),
        'disk', coalesce(f.disk, 0), 'gpus', coalesce(f.gpus, 0),
        'named', coalesce(f.named, jsonb_build_object())) AS allocated"""
