"""Hints about the limit that a failed tool has met, derived from its last output."""

import re
import signal
from dataclasses import dataclass

from pilot.isolation.sandbox.process_limits import ProcessLimits

_WATCHES = re.compile(r"inotify", re.IGNORECASE)
_PROCESSES = re.compile(
    r"Resource temporarily unavailable|\bEAGAIN\b|can't start new thread"
    r"|unable to create (?:new )?native thread|[Cc]annot fork|fork: retry"
)
_OPEN_FILES = re.compile(r"Too many open files|\bEMFILE\b")
_LARGE_FILE = re.compile(r"File too large|\bEFBIG\b|File size limit exceeded")
#: Messages of programs without a network: the C library, curl, wget, git, Java, Go, node.js.
_NETWORK = re.compile(
    r"name resolution|name or service not known|resolve host|failed to resolve|EAI_AGAIN|ENOTFOUND"
    r"|UnknownHostException|no such host|unknown host|translate host name|network is unreachable"
    r"|nodename nor servname|no address associated with hostname|ENETUNREACH|no route to host"
    r"|could(?:n't| not) connect to server|connection refused|ECONNREFUSED",
    re.IGNORECASE,
)
_NO_SPACE = re.compile(r"No space left on device|\bENOSPC\b")


@dataclass(frozen=True, slots=True)
class KernelLimits:
    """Limits that the kernel enforces by refusing more, without ending the tool.

    Attributes:
        sandbox_limits: The limits of the sandbox.
        largest_file: MiB. 0 means that there is no limit.
        shared_memory: MiB. 0 means that there is no limit.
    """

    sandbox_limits: ProcessLimits
    largest_file: float
    shared_memory: float

    def create_network_hint(self, output: str, *, container: bool) -> str:
        """Return what to do for a tool that failed for lack of a network.

        The hint is empty for other failures. It is also empty outside sandboxes and containers,
        where tools have the node's network.
        """
        if not (self.shared_memory or container) or not _NETWORK.search(output):
            return ""
        return (
            "tools have no network unless they ask for it: 'requirements: {NetworkAccess:"
            " {networkAccess: true}}'"
        )

    def create_hint(self, exit_code: int, output: str) -> str:
        """Return the limit that the tool may have met, its value and where to raise it.

        ``output`` is the tool's last output. The kernel has the same error for several limits. The
        hint is empty if no limit fits.
        """
        if self.shared_memory and _WATCHES.search(output):
            return (
                "slots share what the pilot's user may watch of files (the node's"
                " fs.inotify.max_user_instances and max_user_watches)"
            )
        if self.sandbox_limits.processes is not None and _PROCESSES.search(output):
            return (
                "if a process or thread was too many: it may have"
                f" {self.sandbox_limits.processes} at a time (SLUICE_PILOT_SANDBOX_PROCESSES)"
            )
        if self.sandbox_limits.open_files is not None and _OPEN_FILES.search(output):
            return (
                "if a file was too many: each process may have"
                f" {self.sandbox_limits.open_files} open (SLUICE_PILOT_SANDBOX_OPEN_FILES)"
            )
        if self.largest_file and (exit_code == -signal.SIGXFSZ or _LARGE_FILE.search(output)):
            return (
                f"no file of it may be larger than {self.largest_file:.0f} MiB, as much as it has"
                " of disk (tmpdirMin and outdirMin) or of memory (ramMin)"
            )
        if self.shared_memory and _NO_SPACE.search(output):
            maximum = f"{self.shared_memory:.0f} MiB"
            return f"if that was /dev/shm: it may hold {maximum}, as much as its memory (ramMin)"
        return ""
