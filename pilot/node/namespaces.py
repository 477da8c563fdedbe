"""Whether this node lets the pilot's user make the namespaces that a sandbox consists of."""

import shutil
import subprocess

_LIMIT = 20.0
#: All kinds that the sandbox has, with a /proc of its own.
_NAMESPACES = ("--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--net", "--fork")


def why_no_namespaces() -> str | None:
    """Return why this node lets nobody make namespaces, None where it does, or nobody can tell."""
    program = shutil.which("unshare")
    if program is None:
        return None
    command = [program, *_NAMESPACES, "--mount-proc", "true"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1][:300] if said else f"unshare(1) ended with exit code {done.returncode}"
