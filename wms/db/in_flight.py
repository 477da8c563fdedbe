"""What pilots have, and which of it runs: the one definition, for whatever counts jobs in flight by
pilot."""

#: Parts of GPUs that a job of task ``t`` takes, at the least; NULL: none.
_GPUS = """CASE WHEN t.device_type = 'gpu' THEN
    coalesce((t.needs->'gpu'->>'least')::float, 1) * coalesce((t.needs->'gpu'->>'share')::float, 1)
END"""

#: MiB of disk that it has asked for.
_DISK = "CASE WHEN t.disk <> 1024 THEN t.disk ELSE 0 END"

_TURN = """PARTITION BY j.pilot{more}
    ORDER BY j.state = '{{job.RUNNING}}' DESC, j.leased_at, j.id ROWS UNBOUNDED PRECEDING"""

#: A subquery: every attempt that a pilot has at this moment, with what there is to say of its job.
FLYING = """
    SELECT id, task_uid, seq, state, attempt, pilot, leased_at, started_at, ram
    FROM jobs WHERE state IN ('{job.LEASED}', '{job.RUNNING}')
    UNION ALL SELECT j.id, j.task_uid, j.seq,
        CASE WHEN s.started_at IS NULL THEN '{job.LEASED}' ELSE '{job.RUNNING}' END,
        s.attempt, s.pilot, s.leased_at, s.started_at, j.ram
    FROM second_attempts AS s JOIN jobs AS j ON j.id = s.job_id WHERE s.lease_until IS NOT NULL
"""

#: A subquery: job and pilot → whether the pilot, in its turn, has enough of the named resources
#: that it offers itself.
_NAMED = f"""
    SELECT id, pilot, bool_and(amount <= offered) AS fits FROM (
        SELECT j.id, j.pilot, (p.resources->'named'->>n.name)::float + 1e-6 AS offered,
            sum(n.amount::float) OVER ({_TURN.format(more=", n.name")}) AS amount
        FROM ({FLYING}) AS j JOIN tasks AS t ON t.uid = j.task_uid
        JOIN pilots AS p ON p.uid = j.pilot
        CROSS JOIN LATERAL jsonb_each_text(t.needs->'named') AS n (name, amount)
        WHERE t.needs ? 'named' AND p.resources->'named' ? n.name
    ) AS named GROUP BY id, pilot
"""

#: A subquery: each job that a pilot has, and whether it ``runs``. A pilot takes jobs ahead, and
#: starts them in the order in which it was given them as far as its slots and what its node offers
#: go, where one that finds no room lets none pass (``pilot/domain/core.py``). So those run that it
#: said to have begun, and then the next ones, up to what it has. Jobs are found by the index
#: jobs_in_flight.
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
        FROM ({FLYING}) AS j JOIN tasks AS t ON t.uid = j.task_uid
        JOIN pilots AS p ON p.uid = j.pilot
        WINDOW turn AS ({_TURN.format(more="")})
    ) AS own LEFT JOIN ({_NAMED}) AS named USING (id, pilot)
"""

#: A subquery: pilot → ``leased``, ``running`` (as its heartbeats say, so short ones never are),
#: ``busy``: how many run, and what of its node these take.
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

#: Of ``p`` with its row ``f`` of these: what its jobs take of its node.
BOOKED = """jsonb_build_object('cores', coalesce(f.cores, 0), 'ram', coalesce(f.ram, 0),
        'disk', coalesce(f.disk, 0), 'gpus', coalesce(f.gpus, 0),
        'named', coalesce(f.named, jsonb_build_object())) AS booked"""
