"""Speculative execution: whether another pilot should get a job that one has already.

It should if the job takes longer than it should and the other pilot is expected to end it first.
"""

from wms.domain.scheduling.pilot_times import SUSPECT, PilotTimes

#: Another pilot must gain at least these seconds, plus this share of its time for the job.
_MIN_GAIN, _GAIN_SHARE = 0.5, 0.25


def estimate_remaining_seconds(
    ran: float, own_times: PilotTimes | None, anywhere: PilotTimes | None
) -> float | None:
    """Return the seconds that a job which ran for ``ran`` seconds is still expected to take.

    A job that exceeds its likely time is expected to take as long again, as with heavy-tailed
    times. ``own_times`` are the times of the pilot that has the job.

    Returns:
        None if nothing is known.
    """
    times = own_times if own_times is not None and own_times.timed else anywhere
    if times is None:
        return None
    if ran > times.likely:
        return ran
    return max(times.typical - ran, 0.0)


def estimate_gain(
    ran: float,
    own_times: PilotTimes | None,
    *,
    requesting_times: PilotTimes | None,
    anywhere: PilotTimes | None,
) -> float | None:
    """Return by how many seconds the job will end sooner if the requesting pilot starts it too.

    ``ran`` and ``own_times`` belong to the running attempt.

    Returns:
        None if it is not worth while, or the job is likely to fail on the requesting pilot.
    """
    if requesting_times is not None and requesting_times.failing > SUSPECT:
        return None
    remaining = estimate_remaining_seconds(ran, own_times, anywhere)
    new_times = (
        requesting_times if requesting_times is not None and requesting_times.timed else anywhere
    )
    if remaining is None or new_times is None:
        return None
    gain = remaining - new_times.typical
    return gain if is_worth_while(gain, new_times.typical) else None


def is_worth_while(gain: float, job_seconds: float) -> bool:
    """Return whether the gain suffices for another pilot that takes ``job_seconds`` for the job.

    The margin exists because the known times are rough.
    """
    return gain > _MIN_GAIN + _GAIN_SHARE * job_seconds
