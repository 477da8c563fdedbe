"""The pauses between two attempts at a message, which are the same in both transports."""

# Seconds. There are few steps, because RabbitMQ needs a retry queue for each step of each queue.
PAUSES: tuple[float, ...] = (0.1, 1.0, 5.0)


def pause_after_attempt(attempt: int) -> float:
    """Return the pause in seconds after a failed attempt (1, 2, …). The last step repeats."""
    return PAUSES[min(attempt, len(PAUSES)) - 1]


def pauses_within(delivery_limit: int) -> tuple[float, ...]:
    """Return the pauses that a message can reach before it is dead."""
    return PAUSES[: delivery_limit - 1]
