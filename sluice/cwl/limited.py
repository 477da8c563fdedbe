"""Compilation of templates with limits of time and memory, each in its own process.

The libraries may use far more time than the size of a document suggests, and cannot be interrupted.
So each compilation has a process, which is killed at its limits and leaves nothing behind. It is
forked from a process that has loaded the libraries (see ``preloaded``), which takes some hundredths
of a second.
"""

import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import threading
from multiprocessing import util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from sluice.contracts.common.problems import Finding, NotAvailable
from sluice.cwl.compiler import Compiled, CompiledUpload, compile_upload
from sluice.cwl.reading.uploads import Upload
from sluice.text.os_errors import reason_of

#: The limits of a compilation in seconds of processor time and of wall-clock time.
MAX_CPU_SECONDS, MAX_SECONDS = 60, 180.0
#: The limit of the memory that the process maps, in bytes.
MAX_MEMORY = 3 * 1024**3

#: The longest address of a Unix socket in bytes, and the length of its last two names, which
#: ``multiprocessing`` chooses.
_MAX_ADDRESS_LENGTH, _ADDRESS_NAMES_LENGTH = 107, len("/pymp-xxxxxxxx/listener-xxxxxxxx")

#: The variable that tells the fork server about its folder. The fork server outlives this process
#: even if this process is killed, and then removes the folder.
ADDRESS_FOLDER = "_SLUICE_CHECK_FOLDER"

_CONTEXT = multiprocessing.get_context("forkserver")
#: The fork server also loads the main module, because every process would import it again.
_CONTEXT.set_forkserver_preload(["__main__", "sluice.cwl.preloaded"])


class LimitedCompiler:
    """Compiles in processes. It is safe to use from threads."""

    def __init__(
        self,
        *,
        cpu_seconds: int = MAX_CPU_SECONDS,
        seconds: float = MAX_SECONDS,
        memory: int = MAX_MEMORY,
    ) -> None:
        self._cpu_seconds = cpu_seconds
        self._seconds = seconds
        self._memory = memory
        self._lock = threading.Lock()
        self._running: set[ForkServerProcess] = set()

    def compile(self, upload: Upload, *, name: str) -> CompiledUpload:
        """Return the result of ``compile_upload``, or an error if a limit is reached.

        Raises:
            NotAvailable: No process can be started.
        """
        try:
            process, receiver = self._start_process(upload, name)
        except (OSError, EOFError) as error:
            raise NotAvailable(
                f"no process can be started that checks the template ({reason_of(error)}): look at"
                " the memory, processes and open files that the operator service may have, and at"
                " its temporary folder (TMPDIR)"
            ) from error
        try:
            if receiver.poll(self._seconds):
                result: CompiledUpload = receiver.recv()
                return result
        except EOFError:  # the kernel ended the process, or `stop` was called
            pass
        finally:
            receiver.close()
            with self._lock:
                self._running.discard(process)
                process.kill()
                process.join()
        return self._limit_error()

    def _start_process(self, upload: Upload, name: str) -> tuple[ForkServerProcess, Connection]:
        """Return a process that compiles, and the connection that receives the result."""
        receiver, sender = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(
            target=_compile,
            args=(sender, upload, name, (self._cpu_seconds, self._memory)),
            daemon=True,
        )
        try:
            with self._lock:
                os.environ[ADDRESS_FOLDER] = _choose_address_folder()
                process.start()
                self._running.add(process)
        except BaseException:
            receiver.close()
            raise
        finally:
            os.environ.pop(ADDRESS_FOLDER, None)
            sender.close()
        return process, receiver

    def stop(self) -> None:
        """Kill the running compilations, which then end with an error."""
        with self._lock:
            for process in self._running:
                process.kill()

    def _limit_error(self) -> CompiledUpload:
        finding = Finding(
            message=f"the check was stopped: it may take {self._cpu_seconds} s of processor time"
            f" and {self._memory / 1024**3:g} GiB of memory; make the types, links and nested"
            " workflows of the template simpler"
        )
        return CompiledUpload(Compiled(None, [finding]), None, None)


def _choose_address_folder() -> str:
    """Return the folder for the address of the fork server.

    If the temporary folder has too long a name, ``multiprocessing`` gets a folder below /tmp.
    Python does so itself since 3.14.
    """
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    if not os.path.isdir(config.get("tempdir", "")):
        fits = (
            len(os.fsencode(tempfile.gettempdir())) + _ADDRESS_NAMES_LENGTH <= _MAX_ADDRESS_LENGTH
        )
        if fits:
            folder = tempfile.mkdtemp(prefix="pymp-")
        else:
            folder = tempfile.mkdtemp(prefix="pymp-", dir="/tmp")
        config["tempdir"] = folder
        util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=-100)
    return str(config["tempdir"])


def _compile(sender: Connection, upload: Upload, name: str, limits: tuple[int, int]) -> None:
    """Run a compilation in the process, with ``limits`` in seconds and bytes."""
    cpu_seconds, memory = limits
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    max_cpu_seconds = round(usage.ru_utime + usage.ru_stime) + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (max_cpu_seconds, max_cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        sender.send(compile_upload(upload, name=name))
    except MemoryError:
        sender.close()
