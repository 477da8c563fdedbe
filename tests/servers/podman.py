"""Podman with images and containers of its own, and an image made of a folder with nothing but
busybox."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

IMAGE = "localhost/tiny:1"
BUSYBOX = Path("/bin/busybox")

#: No limit is raised, which takes a right that root lacks in some sandboxes; and runc gets along
#: with every layout of cgroups.
_ENGINE = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
"""


@dataclass
class Podman:
    """``environment``: what has to be set so that a pilot uses it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Raises ``CalledProcessError``."""
        command = ["podman", *arguments]
        return subprocess.run(
            command, env=self._all(), check=True, capture_output=True, text=True, timeout=120
        ).stdout.strip()

    def containers(self) -> list[str]:
        """Names of all there are, running or not."""
        return self.run("ps", "--all", "--format", "{{.Names}}").split()

    def trust(self, registry: str) -> None:
        """Images may be pulled from there without TLS."""
        Path(self.environment["CONTAINERS_REGISTRIES_CONF"]).write_text(
            f'[[registry]]\nlocation = "{registry}"\ninsecure = true\n'
        )

    def stop(self) -> None:
        self.run("rm", "--force", "--time", "0", "--all")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _all(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self.environment}


def start_podman() -> Podman:
    """Raises ``RuntimeError`` where there is none."""
    if shutil.which("podman") is None or shutil.which("runc") is None or not BUSYBOX.exists():
        raise RuntimeError(
            "podman, runc and busybox are needed: scripts/install-test-needs.sh installs them"
        )
    # Podman takes no long path here.
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
