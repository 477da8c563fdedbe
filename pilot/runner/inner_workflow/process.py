"""Run a CWL process other than a single command line tool for one job.

Usage: ``python -m pilot.runner.inner_workflow FOLDER OUT [KEEP]``. With ``KEEP``, results of
finished tools are kept in ``OUT``, and those of an earlier attempt are taken over. It is a separate
process, so that the limits of a job apply to everything that it starts.

It reads ``process.cwl``, ``order.json``, ``javascript.json`` and ``isolation.json``, and values of
secrets from its standard input if that is a file. It writes the output object to ``result.json``.

Exit status 0 is success. ``EXIT_REFUSED`` means that another attempt would fail too. The reasons
of a failure are on the standard error, and the first is in ``failure.json``.
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
from pilot.runner.containers.options import runtime_options
from pilot.runner.cwl.documents import create_loading_context
from pilot.runner.cwl.exact_values import read_exact
from pilot.runner.cwl.file_access import (
    JobFileMapper,
    create_access_factory,
    create_mapper_factory,
    relink_initial,
)
from pilot.runner.expressions.engine import install_engine
from pilot.runner.expressions.javascript import JavaScript
from pilot.runner.files.access_errors import (
    create_refusal_error,
    create_setup_error,
    find_port,
    find_refusal,
    list_paths,
)
from pilot.runner.files.job_files import Identity, JobFiles
from pilot.runner.inner_workflow.containers import (
    ContainerJobs,
    InnerContainers,
    read_containers,
)
from pilot.runner.inner_workflow.failures import FailureWatch
from pilot.runner.inner_workflow.finished_steps import FinishedSteps
from pilot.runner.inner_workflow.isolated_tools import IsolatedTools
from pilot.runner.inner_workflow.isolation import read_isolation
from pilot.runner.inner_workflow.tools import create_tool_maker
from pilot.runner.job_secrets import read_secrets
from pilot.runner.programs.visible_gpus import GPU_VARIABLES
from pilot.runner.redaction import Redaction

PROCESS, ORDER, JAVASCRIPT, RESULT = "process.cwl", "order.json", "javascript.json", "result.json"
#: These files exist only if the job uses containers, or if something failed.
CONTAINERS, FAILURE = "containers.json", "failure.json"

#: Exit status of a process that would fail again.
EXIT_REFUSED = 3


def main(folder: str, out: str, keep: str = "") -> int:
    """Run the process in ``folder`` and return the exit status."""
    secrets, redaction = read_secrets(_read_stdin())
    with open(f"{folder}/{JAVASCRIPT}") as file:
        engine = install_engine(JavaScript.model_validate_json(file.read()))
    try:
        status = _run(folder, out, secrets, redaction, keeps_steps=bool(keep))
    except WorkflowException:
        if engine.violation is None:
            raise
        status = 1
    finally:
        engine.end()
    if status and engine.violation is not None:
        print(engine.violation, file=sys.stderr)
        return EXIT_REFUSED
    return status


def _read_stdin() -> bytes:
    """Read what the slot passes on standard input, and replace it, so that no tool can read it."""
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return b""
    with open(0, "rb", closefd=False) as stdin:
        data = stdin.read()
    with open(os.devnull, "rb") as devnull:
        os.dup2(devnull.fileno(), 0)
    return data


def _run(
    folder: str, out: str, secrets: SecretStore, redaction: Redaction, *, keeps_steps: bool
) -> int:
    loading, inner = create_loading_context(), read_containers(f"{folder}/{CONTAINERS}")
    with open(f"{folder}/{ORDER}", "rb") as file:
        order = read_exact(file.read())
    job_files = _open_job_files(os.path.dirname(folder), order)
    with open(f"{folder}/{PROCESS}", "rb") as file:
        watch = FailureWatch(
            f"{folder}/{FAILURE}",
            job_files,
            several=len(json.load(file).get("steps", ())) > 1,
            redaction=redaction,
        )
    watch.install()
    containers = None if inner is None else ContainerJobs(inner)
    isolation = read_isolation(folder)
    isolated_tools = (
        None if isolation is None else IsolatedTools(isolation, report_failure=watch.record_failure)
    )
    loading.construct_tool_object = create_tool_maker(
        watch,
        containers,
        isolated_tools,
        secrets=secrets,
        job_files=job_files,
        finished_steps=FinishedSteps(out, order) if keeps_steps else None,
    )
    process = load_tool(f"file://{folder}/{PROCESS}", loading)
    context = _create_context(folder, out, inner, job_files=job_files, secrets=secrets)
    cwltool.job.relink_initialworkdir = partial(relink_initial, job_files)
    executor = SingleJobExecutor()
    if isolated_tools is not None:
        isolated_tools.install()
    try:
        result, status = executor(process, order, context)
    except WorkflowException as error:
        refusal = find_refusal(error)
        if refusal is None:
            raise
        outputs = next(iter(executor.final_output), None)
        watch.record_failure(
            create_refusal_error(refusal, port=find_port(outputs, refusal.path))
            if outputs
            else create_setup_error(refusal)
        )
        return 1
    finally:
        if isolated_tools is not None:
            isolated_tools.close()
    if status != "success" or result is None:
        return 1
    with open(f"{folder}/{RESULT}.new", "w") as file:
        json.dump(result, file)
    os.replace(f"{folder}/{RESULT}.new", f"{folder}/{RESULT}")
    return 0


def _create_context(
    folder: str,
    out: str,
    inner: InnerContainers | None,
    *,
    job_files: JobFiles,
    secrets: SecretStore,
) -> RuntimeContext:
    return RuntimeContext(
        {
            **({"use_container": False} if inner is None else runtime_options(inner.engine)),
            "basedir": folder,
            "outdir": out,
            "tmpdir_prefix": f"{folder}/t-",
            "tmp_outdir_prefix": f"{folder}/o-",
            "compute_checksum": False,
            "preserve_environment": [name for name in GPU_VARIABLES if name in os.environ],
            "move_outputs": "move",
            "make_fs_access": create_access_factory(job_files),
            "path_mapper": create_mapper_factory(job_files, JobFileMapper),
            "secret_store": secrets,
        }
    )


def _open_job_files(folder: str, order: Any) -> JobFiles:
    """Return the job's files, before a tool can change the pilot's links to inputs."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    names = dict.fromkeys((folder, os.path.realpath(folder)))
    return JobFiles([OpenFolder(name, descriptor) for name in names], set(_list_inputs(order)))


def _list_inputs(order: Any) -> Iterator[Identity]:
    for path in list_paths(order):
        if not path.startswith("/"):
            continue
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            yield status.st_dev, status.st_ino
