"""Compiles a template within limits of time and memory, in a process of its own.

What the libraries do with a document may cost far more than its size tells, and cannot be
interrupted. So each compilation has a process, which is killed at its limits and leaves nothing
behind. It is forked from one that has loaded the libraries (see ``preloaded``), which takes some
hundredths of a second.
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

from sluice.contracts.problems import Finding, NotAvailable
from sluice.cwl.compiler import Compiled, CompiledUpload, compile_upload
from sluice.cwl.reading.uploads import Upload
from sluice.os_errors import reason_of

#: Seconds of processor time, and by the clock, that a compilation may take.
MAX_CPU_SECONDS, MAX_SECONDS = 30, 90.0
#: Bytes of memory, as the process maps it.
MAX_MEMORY = 3 * 1024**3

#: Bytes that the address of a Unix socket may have, and those of its two last names, which
#: ``multiprocessing`` chooses.
_LONGEST_ADDRESS, _NAMES = 107, len("/pymp-xxxxxxxx/listener-xxxxxxxx")

#: Variable that names a folder to the process that others are forked from. That process ends after
#: this one, also when this one is killed, and removes the folder.
ADDRESS_FOLDER = "_SLUICE_CHECK_FOLDER"

_CONTEXT = multiprocessing.get_context("forkserver")
#: Besides the libraries, what the main module imports: every process imports that once more.
_CONTEXT.set_forkserver_preload(["__main__", "sluice.cwl.preloaded"])


class LimitedCompiler:
    """Compiles in processes; ``stop`` ends those that still run. Safe to use from threads."""

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
        """Return what ``compile_upload`` does; an error where the limits are reached.

        Raises:
            NotAvailable: No process can be started.
        """
        try:
            process, receiver = self._started(upload, name)
        except (OSError, EOFError) as error:
            raise NotAvailable(
                f"no process can be started that checks the template ({reason_of(error)}): look at"
                " the memory, processes and open files that the operator service may have, and at"
                " its temporary folder (TMPDIR)"
            ) from error
        try:
            if receiver.poll(self._seconds):
                answer: CompiledUpload = receiver.recv()
                return answer
        except EOFError:  # the kernel ended it, or somebody stopped us
            pass
        finally:
            receiver.close()
            with self._lock:
                self._running.discard(process)
                process.kill()
                process.join()
        return self._refused()

    def _started(self, upload: Upload, name: str) -> tuple[ForkServerProcess, Connection]:
        """Return a process that compiles, and where it sends what it found."""
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
        """Kill what still runs; the compilations end with an error."""
        with self._lock:
            for process in self._running:
                process.kill()

    def _refused(self) -> CompiledUpload:
        finding = Finding(
            message=f"the check was stopped: it may take {self._cpu_seconds} s of processor time"
            f" and {self._memory / 1024**3:g} GiB of memory; make the types, links and nested"
            " workflows of the template simpler"
        )
        return CompiledUpload(Compiled(None, [finding]), None, None)


def _choose_address_folder() -> str:
    """Return the folder of the address of the process that others are forked from.

    ``multiprocessing`` gets a folder below /tmp where its own would be too long a name; Python does
    so by itself from 3.14 on.
    """
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    if not os.path.isdir(config.get("tempdir", "")):
        fits = len(os.fsencode(tempfile.gettempdir())) + _NAMES <= _LONGEST_ADDRESS
        if fits:
            folder = tempfile.mkdtemp(prefix="pymp-")
        else:
            folder = tempfile.mkdtemp(prefix="pymp-", dir="/tmp")
        config["tempdir"] = folder
        util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=-100)
    return str(config["tempdir"])


def _compile(sender: Connection, upload: Upload, name: str, limits: tuple[int, int]) -> None:
    """Run in the process, with ``limits`` of seconds and bytes. Either ends it."""
    cpu_seconds, memory = limits
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = round(used.ru_utime + used.ru_stime) + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        sender.send(compile_upload(upload, name=name))
    except MemoryError:
        sender.close()
