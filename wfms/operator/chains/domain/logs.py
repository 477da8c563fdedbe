"""The text of a log: whole, or its beginning and end with a line that says how much is left out."""

from sluice.contracts.common.numbers import format_count


def omission_line(count: int) -> str:
    """Return the line that says how many bytes are left out."""
    return f"… {format_count(count, 'byte', grouped=True)} left out …"


def log_text(head: bytes, tail: bytes, size: int) -> str:
    """Return the text of a log of ``size`` bytes from its beginning and its end.

    If bytes are left out, the cuts are moved to line ends. Invalid UTF-8 is replaced.
    """
    if len(head) + len(tail) >= size:
        return (head + tail).decode(errors="replace")
    head, tail = head[: head.rfind(b"\n") + 1] or head, tail[tail.find(b"\n") + 1 :] or tail
    line = omission_line(size - len(head) - len(tail))
    begin = head.decode(errors="replace")
    end = "" if begin.endswith("\n") else "\n"
    return f"{begin}{end}{line}\n{tail.decode(errors='replace')}"
