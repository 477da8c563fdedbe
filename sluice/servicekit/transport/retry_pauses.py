"""How long a message rests after a failed attempt; both transports keep to the same steps."""

# Seconds. Few steps, because RabbitMQ needs one resting queue for each of them.
PAUSES: tuple[float, ...] = (0.1, 0.5, 2.0, 10.0, 30.0)


def pause_after(attempt: int) -> float:
    """Seconds to rest after failed attempt number ``attempt`` (1, 2, …): longer each time, then the last step for ever."""
    return PAUSES[min(attempt, len(PAUSES)) - 1]


def undelivered_reason(limit: int, last: str | None) -> str:
    """Why a message is dead that was handed out ``limit`` times and never answered the last time."""
    counted = f"handed out {limit} times without an acknowledgement"
    return f"{counted}; last failure: {last}" if last else counted
