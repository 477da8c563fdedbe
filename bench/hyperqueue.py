"""HyperQueue, a peer of the benchmarks if it is installed.

It runs tasks on the cores of one machine, and starts a program for each.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: Prints the seconds from the submission until the last task has ended.
_RUN = """
import json, sys, time
from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
work = json.load(sys.stdin)
with LocalCluster(worker_config=WorkerConfig(cores=work["cores"])) as cluster:
    client, job = cluster.client(), Job(max_fails=0)
    for place, path in work["tasks"]:
        job.program([*work["command"], path], cwd=place, stdout="stdout", stderr="stderr")
    began = time.perf_counter()
    client.wait_for_jobs([client.submit(job)])
    print(time.perf_counter() - began)
"""


def is_installed() -> bool:
    """Return whether HyperQueue is installed."""
    return importlib.util.find_spec("hyperqueue") is not None


def time_hyperqueue(command: Sequence[str], files: Sequence[Path], folder: Path) -> float:
    """Return the seconds for a command on each of the files, on all cores.

    The file is the last argument. Each task has a folder below ``folder`` for its output and log.
    """
    tasks = [(str(folder / str(number)), str(path)) for number, path in enumerate(files)]
    for place, _ in tasks:
        Path(place).mkdir(parents=True)
    work = {"cores": os.cpu_count(), "command": list(command), "tasks": tasks}
    result = subprocess.run(
        [sys.executable, "-c", _RUN],
        input=json.dumps(work),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return float(result.stdout.splitlines()[-1])
