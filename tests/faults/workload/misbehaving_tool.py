"""A warm worker that implements the protocol itself, and misbehaves during a job on a signal.

Its text is part of a template, so that pilots need no file of this folder. A job's arguments are a
file, the seconds to take, and the name of a file for the digest.
"""

import hashlib
import json
import os
import signal
import sys
import time
from typing import NoReturn

#: Ways to misbehave, each with its own signal; the first signal can be sent to any process.
MISBEHAVIOURS = ("kill", "hang", "nonsense", "twice", "grow", "close", "children")
#: Signal of the second way.
SECOND_SIGNAL = signal.SIGRTMIN + 1
#: Bytes to grow by, more than any job with a small request may use, and bytes at a time.
GROWTH_BYTES, CHUNK_BYTES = 1536 << 20, 16 << 20

_pending: list[str] = []


def get_misbehaviour_signal(way: str) -> int:
    return signal.SIGKILL if way == "kill" else SECOND_SIGNAL + MISBEHAVIOURS.index(way)


def _record_misbehaviour(number: int, _frame: object) -> None:
    _pending.append(MISBEHAVIOURS[number - SECOND_SIGNAL])


def compute_digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def do_job(arguments: list[str]) -> str:
    """Do a job, and return the way to misbehave after it, or an empty text."""
    path, pause, out = arguments
    time.sleep(float(pause))  # The job takes so long.
    way = _pending.pop() if _pending else ""
    if way == "hang":
        stay()
    elif way == "grow":
        grow()
    elif way == "close":
        os.close(1)
        stay()
    elif way == "children":
        leave_children()
    with open(out, "w") as file:
        file.write(f"{compute_digest(path)}  {os.path.basename(path)}\n")
    return way


def grow() -> NoReturn:
    """Grow slowly enough for a periodic check to notice."""
    pieces = list[bytes]()
    while len(pieces) < GROWTH_BYTES // CHUNK_BYTES:
        pieces.append(b"x" * CHUNK_BYTES)
        time.sleep(0.01)
    stay()


def stay() -> NoReturn:
    while True:
        signal.pause()


def leave_children() -> None:
    """Leave a child process, and an orphan in its own session."""
    if os.fork() == 0:
        time.sleep(3600)
    middle = os.fork()
    if middle == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
    os.waitpid(middle, 0)


def serve() -> None:
    for way in MISBEHAVIOURS[1:]:
        signal.signal(get_misbehaviour_signal(way), _record_misbehaviour)
    for line in sys.stdin:
        request = json.loads(line)
        way = do_job(request["arguments"])
        answer = json.dumps({"exitCode": 0, "output": "", "requestId": request["requestId"]})
        output = {"nonsense": "all is well", "twice": f"{answer}\n{answer}"}.get(way, answer)
        print(output, flush=True)


if __name__ == "__main__":
    if "--persistent_worker" in sys.argv:
        serve()
    else:
        do_job(sys.argv[1:])
