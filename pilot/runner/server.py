"""Server of slot processes: ``python -m pilot.runner <fd of its connection> <settings as JSON>``.

It loads cwltool once and forks a process for each connection that the pilot sends.
"""

import os
import signal
import socket
import sys
from pathlib import Path

import structlog

from pilot.folders.run_folder import RunFolder
from pilot.runner.cwl.documents import warm_up
from pilot.runner.expressions.engine import install_engine
from pilot.runner.expressions.javascript import find_javascript
from pilot.runner.protocol import SLOT_NUMBER, RunnerSettings
from pilot.runner.signals import disable_termination_signals
from pilot.runner.slot import SlotProcess
from sluice.process.garbage_collection import freeze_loaded_objects
from sluice.servicekit.running.logging import configure_logging

log = structlog.get_logger(__name__)


def main() -> None:
    """Fork slot processes until the pilot closes the connection."""
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = RunnerSettings.model_validate_json(sys.argv[2])
    configure_logging("pilot")
    disable_termination_signals()
    # Programs of pipeline packs are installed beside this Python. The folder comes last, so that it
    # hides no program of the user.
    os.environ["PATH"] = (
        os.environ.get("PATH", os.defpath) + os.pathsep + os.path.dirname(sys.executable)
    )
    warm_up(str(RunFolder(Path(settings.run_folder)).documents))
    _install_javascript(settings)
    # The pilot notices the end of a slot by its connection, so no wait is needed here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    freeze_loaded_objects()  # forks keep sharing its pages
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, SLOT_NUMBER.size, 1)
        if not data:
            return
        if os.fork() == 0:
            control.close()
            _serve(descriptors[0], settings, *SLOT_NUMBER.unpack(data))
        os.close(descriptors[0])


def _install_javascript(settings: RunnerSettings) -> None:
    javascript = find_javascript(sandbox_required=settings.sandbox_required)
    install_engine(javascript.model_copy(update={"limit": settings.expression_limit}))
    if not javascript.command:
        log.warning("expressions.none", reason=javascript.reason)
    elif javascript.namespaces is not None:
        log.info("expressions.contained")
    else:
        log.warning(
            "expressions.uncontained",
            reason=javascript.reason,
            note="templates' JavaScript has the pilot's rights",
        )


def _serve(descriptor: int, settings: RunnerSettings, number: int) -> None:
    try:
        SlotProcess(socket.socket(fileno=descriptor), settings, number).serve()
    finally:
        os._exit(1)
