"""Podman with its own images and containers, and an image with nothing but busybox."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

IMAGE = "localhost/tiny:1"
BUSYBOX = Path("/bin/busybox")

#: Limits stay as they are, because root may not raise them in some sandboxes. The runtime runc
#: works with every layout of cgroups.
_ENGINE = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
"""


@dataclass
class Podman:
    """Podman; ``environment`` has the variables with which a pilot uses it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Run Podman and return its output; raise ``CalledProcessError`` if it fails."""
        command = ["podman", *arguments]
        return subprocess.run(
            command,
            env=self._collect_environment(),
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout.strip()

    def containers(self) -> list[str]:
        """Return the names of all containers, running or not."""
        return self.run("ps", "--all", "--format", "{{.Names}}").split()

    def trust(self, registry: str) -> None:
        """Allow images to be pulled from this registry without TLS."""
        Path(self.environment["CONTAINERS_REGISTRIES_CONF"]).write_text(
            f'[[registry]]\nlocation = "{registry}"\ninsecure = true\n'
        )

    def stop(self) -> None:
        self.run("rm", "--force", "--time", "0", "--all")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _collect_environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self.environment}


def start_podman() -> Podman:
    """Start Podman; raise ``RuntimeError`` if it is not installed."""
    if shutil.which("podman") is None or shutil.which("runc") is None or not BUSYBOX.exists():
        raise RuntimeError(
            "podman, runc and busybox are needed: scripts/install-test-needs.sh installs them"
        )
    # Podman accepts no long path here.
    folder = Path(tempfile.mkdtemp(prefix="sluice-podman-"))
    names = ("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF")
    environment = {name: str(folder / name.lower()) for name in names}
    Path(environment["CONTAINERS_CONF"]).write_text(_ENGINE)
    Path(environment["CONTAINERS_STORAGE_CONF"]).write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n'
        f'rootless_storage_path = "{folder}/images"\n'
    )
    Path(environment["CONTAINERS_REGISTRIES_CONF"]).write_text("")
    podman = Podman(folder, environment)
    _make_image(podman)
    return podman


def _make_image(podman: Podman) -> None:
    tree = podman.folder / "tree"
    for place in ("bin", "tmp", "etc"):
        (tree / place).mkdir(parents=True)
    shutil.copy(BUSYBOX, tree / "bin" / "busybox")
    for applet in subprocess.run(
        [BUSYBOX, "--list"], check=True, capture_output=True, text=True
    ).stdout.split():
        if applet != "busybox":
            (tree / "bin" / applet).symlink_to("busybox")
    (tree / "etc" / "mark").write_text("inside the image\n")
    # Files belong to root: an ordinary user's Podman may not map the id of that user.
    owner = ["--owner=0", "--group=0"]
    packed = podman.folder / "tree.tar"
    subprocess.run(["tar", *owner, "-C", tree, "-cf", packed, "."], check=True)
    podman.run("import", "--quiet", str(packed), IMAGE)
