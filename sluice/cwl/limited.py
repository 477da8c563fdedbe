"""Compiles a template within limits of time and memory, in a process of its own.

What the libraries do with a document may cost far more than its size tells, and cannot be
interrupted. So each compilation has a process, which is killed at its limits and leaves nothing
behind. It is forked from one that has loaded the libraries (see ``preloaded``), which takes some
hundredths of a second.
"""

import multiprocessing
import resource
import signal
import threading
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from sluice.contracts.problems import Finding
from sluice.cwl.compiler import Compiled, CompiledUpload, compile_upload
from sluice.cwl.reading.uploads import Upload

#: Seconds of processor time, and by the clock, that a compilation may take.
MAX_CPU_SECONDS, MAX_SECONDS = 30, 90.0
#: Bytes of memory, as the process maps it.
MAX_MEMORY = 3 * 1024**3

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
        """Return what ``compile_upload`` does; an error where the limits are reached."""
        receiver, sender = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(
            target=_compile,
            args=(sender, upload, name, (self._cpu_seconds, self._memory)),
            daemon=True,
        )
        with self._lock:
            process.start()
            self._running.add(process)
        sender.close()
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
