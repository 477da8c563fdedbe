"""Run a CWL process other than a single command line tool for one job.

Usage: ``python -m pilot.runner.inner_workflow FOLDER OUT``. It is a separate process, so that the
limits of a job apply to everything that it starts.

It reads ``process.cwl``, ``order.json``, ``javascript.json`` and ``isolation.json``, and values of
secrets from its standard input if that is a file. It writes the output object to ``result.json``.

Exit status 0 is success. ``REFUSED`` means that another attempt would fail too. The reasons of a
failure are on the standard error, and the first is in ``failure.json``.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import cwltool.job
from cwltool.context import RuntimeContext
from cwltool.errors import WorkflowException
from cwltool.executors import SingleJobExecutor
from cwltool.load_tool import load_tool
from cwltool.secrets import SecretStore

from pilot.folders.work_folder import OpenFolder
from pilot.runner.containers.options import flags
from pilot.runner.cwl.documents import loading_context
from pilot.runner.cwl.exact_values import read_exact
from pilot.runner.cwl.file_access import JobFileMapper, access_to, mapper_in, relink_initial
from pilot.runner.expressions.engine import install
from pilot.runner.expressions.javascript import JavaScript
from pilot.runner.files.access_errors import (
    not_set_up,
    paths_in,
    port_naming,
    refusal_in,
    refused_output,
)
from pilot.runner.files.job_files import Identity, JobFiles
from pilot.runner.inner_workflow.containers import (
    ContainerJobs,
    InnerContainers,
    read_inner,
)
from pilot.runner.inner_workflow.failures import FailureWatch
from pilot.runner.inner_workflow.isolated_tools import IsolatedTools
from pilot.runner.inner_workflow.isolation import read_isolation
from pilot.runner.inner_workflow.tools import tool_maker
from pilot.runner.job_secrets import taken
from pilot.runner.programs.visible_gpus import VISIBLE
from pilot.runner.redaction import Redaction

PROCESS, ORDER, JAVASCRIPT, RESULT = "process.cwl", "order.json", "javascript.json", "result.json"
#: These files exist only if the job uses containers, or if something failed.
CONTAINERS, FAILURE = "containers.json", "failure.json"

#: Exit status of a process that would fail again.
REFUSED = 3


def main(folder: str, out: str) -> int:
    """Run the process in ``folder`` and return the exit status."""
    secrets, hide = taken(_from_stdin())
    with open(f"{folder}/{JAVASCRIPT}") as file:
        engine = install(JavaScript.model_validate_json(file.read()))
    try:
        status = _run(folder, out, secrets, hide)
    except WorkflowException:
        if engine.exceeded is None:
            raise
        status = 1
    finally:
        engine.end()
    if status and engine.exceeded is not None:
        print(engine.exceeded, file=sys.stderr)
        return REFUSED
    return status


def _from_stdin() -> bytes:
    """Read what the slot passes on standard input, and replace it, so that no tool can read it."""
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return b""
    with open(0, "rb", closefd=False) as given:
        handed = given.read()
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return handed


def _run(folder: str, out: str, secrets: SecretStore, hide: Redaction) -> int:
    loading, inner = loading_context(), read_inner(f"{folder}/{CONTAINERS}")
    with open(f"{folder}/{ORDER}", "rb") as file:
        order = read_exact(file.read())
    job_files = _job_files(os.path.dirname(folder), order)
    with open(f"{folder}/{PROCESS}", "rb") as file:
        watch = FailureWatch(
            f"{folder}/{FAILURE}",
            job_files,
            several=len(json.load(file).get("steps", ())) > 1,
            hide=hide,
        )
    watch.install()
    containers = None if inner is None else ContainerJobs(inner)
    isolation = read_isolation(folder)
    contained = None if isolation is None else IsolatedTools(isolation, failed=watch.failed)
    loading.construct_tool_object = tool_maker(
        watch, containers, contained, secrets=secrets, job_files=job_files
    )
    process = load_tool(f"file://{folder}/{PROCESS}", loading)
    context = _context(folder, out, inner, job_files=job_files, secrets=secrets)
    cwltool.job.relink_initialworkdir = partial(relink_initial, job_files)
    executor = SingleJobExecutor()
    if contained is not None:
        contained.install()
    try:
        result, status = executor(process, order, context)
    except WorkflowException as error:
        refusal = refusal_in(error)
        if refusal is None:
            raise
        outputs = next(iter(executor.final_output), None)
        watch.failed(
            refused_output(refusal, port=port_naming(outputs, refusal.path))
            if outputs
            else not_set_up(refusal)
        )
        return 1
    finally:
        if contained is not None:
            contained.close()
    if status != "success" or result is None:
        return 1
    with open(f"{folder}/{RESULT}.new", "w") as file:
        json.dump(result, file)
    os.replace(f"{folder}/{RESULT}.new", f"{folder}/{RESULT}")
    return 0


def _context(
    folder: str,
    out: str,
    inner: InnerContainers | None,
    *,
    job_files: JobFiles,
    secrets: SecretStore,
) -> RuntimeContext:
    return RuntimeContext(
        {
            **({"use_container": False} if inner is None else flags(inner.engine)),
            "basedir": folder,
            "outdir": out,
            "tmpdir_prefix": f"{folder}/t-",
            "tmp_outdir_prefix": f"{folder}/o-",
            "compute_checksum": False,
            "preserve_environment": [name for name in VISIBLE if name in os.environ],
            "move_outputs": "move",
            "make_fs_access": access_to(job_files),
            "path_mapper": mapper_in(job_files, JobFileMapper),
            "secret_store": secrets,
        }
    )


def _job_files(folder: str, order: Any) -> JobFiles:
    """Return the job's files, before a tool can change the pilot's links to inputs."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    names = dict.fromkeys((folder, os.path.realpath(folder)))
    return JobFiles([OpenFolder(name, descriptor) for name in names], set(_inputs(order)))


def _inputs(order: Any) -> Iterator[Identity]:
    for path in paths_in(order):
        if not path.startswith("/"):
            continue
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            yield found.st_dev, found.st_ino
