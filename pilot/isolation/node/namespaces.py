"""Check whether the node lets the pilot's user create the namespaces of a sandbox."""

import shutil
import subprocess

_LIMIT = 20.0
#: The kinds of namespaces that a sandbox has, with its own /proc.
_NAMESPACES = ("--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--net", "--fork")


def why_no_namespaces() -> str | None:
    """Return why this user cannot create namespaces.

    Returns:
        None if it can, or if the check is not possible.
    """
    program = shutil.which("unshare")
    if program is None:
        return None
    command = [program, *_NAMESPACES, "--mount-proc", "true"]
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if result.returncode == 0:
        return None
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"unshare(1) ended with exit code {result.returncode}"
