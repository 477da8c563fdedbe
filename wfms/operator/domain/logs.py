"""The text of a log as it is shown: whole, or its beginning and its end with a line between that
says what is left out.
"""

from wfms.operator.domain.formatting import count_text


def left_out_text(count: int) -> str:
    return f"… {count_text(count, 'byte')} left out …"


def log_text(head: bytes, tail: bytes, size: int) -> str:
    """``size``: bytes of the whole; it is ``head`` and ``tail`` where these are as many. Else both
    are cut between lines, as far as they have any, and whatever is no UTF-8 is replaced.
    """
    if len(head) + len(tail) >= size:
        return (head + tail).decode(errors="replace")
    head, tail = head[: head.rfind(b"\n") + 1] or head, tail[tail.find(b"\n") + 1 :] or tail
    line = left_out_text(size - len(head) - len(tail))
    begin = head.decode(errors="replace")
    end = "" if begin.endswith("\n") else "\n"
    return f"{begin}{end}{line}\n{tail.decode(errors='replace')}"
