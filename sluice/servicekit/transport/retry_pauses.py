"""How long a message rests after a failed attempt; both transports keep to the same steps."""

# Seconds. Few steps, because RabbitMQ needs a resting queue for each of them and each queue.
PAUSES: tuple[float, ...] = (0.1, 1.0, 5.0)


def rest_after(attempt: int) -> float:
    """Seconds to rest after failed attempt number ``attempt`` (1, 2, …): longer each time, then the
    last step for ever.
    """
    return PAUSES[min(attempt, len(PAUSES)) - 1]


def pauses_within(delivery_limit: int) -> tuple[float, ...]:
    """The pauses that a message can come to: after the last attempt it is dead."""
    return PAUSES[: delivery_limit - 1]
