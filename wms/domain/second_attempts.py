"""Whether another worker should be given a job that one has already: where that one takes longer
than it should, and the other is expected to have done it before."""

from wms.domain.worker_times import SUSPECT, WorkerTimes

#: Another worker has to be worth so many seconds, and this share of what it takes.
_LEAST_GAIN, _GAIN_SHARE = 0.5, 0.25


def seconds_left(ran: float, own: WorkerTimes | None, anywhere: WorkerTimes | None) -> float | None:
    """That a job which ``ran`` so long is expected to take still. Where it has taken longer than is
    likely nobody knows why: as long again, which is what times of heavy tails are like. ``own``:
    times of the worker that has it; None: nothing is known."""
    known = own if own is not None and own.timed else anywhere
    if known is None:
        return None
    if ran > known.likely:
        return ran
    return max(known.typical - ran, 0.0)


def gain(
    ran: float,
    own: WorkerTimes | None,
    *,
    asking: WorkerTimes | None,
    anywhere: WorkerTimes | None,
) -> float | None:
    """Seconds by which the job is expected to end sooner if the worker that asks begins it too;
    None: it is not worth while, or it fails more often there than elsewhere. ``ran``, ``own``: of
    the attempt there is."""
    if asking is not None and asking.failing > SUSPECT:
        return None
    left = seconds_left(ran, own, anywhere)
    begun = asking if asking is not None and asking.timed else anywhere
    if left is None or begun is None:
        return None
    found = left - begun.typical
    return found if is_worth_while(found, begun.typical) else None


def is_worth_while(gain: float, takes: float) -> bool:
    """To have a job done by another worker, which ``takes`` so long: what is known of times is
    rough."""
    return gain > _LEAST_GAIN + _GAIN_SHARE * takes
