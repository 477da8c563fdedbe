"""Why a message failed, in words that every broker can carry."""

#: Characters. A header of RabbitMQ has to fit into one frame together with all others.
LONGEST = 2000


def readable(reason: str) -> str:
    """``reason`` without control characters (PostgreSQL's text holds no NUL), cut where it is too
    long for a person."""
    plain = "".join(
        one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}"
        for one in reason[: LONGEST + 1]
    )
    return plain if len(reason) <= LONGEST else plain[: LONGEST - 1] + "…"


def undelivered(limit: int, last: str | None) -> str:
    """Why a message is dead that was handed out ``limit`` times and never answered the last
    time."""
    counted = f"handed out {limit} times without an acknowledgement"
    return f"{counted}; last failure: {last}" if last else counted
