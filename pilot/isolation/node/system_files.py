"""Copies of the node's settings that every tool may read."""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pilot.isolation.sandbox.network import build_resolver_settings
from sluice.tools.visible_paths import SYSTEM, within

#: Names in /etc that programs commonly read: users, hosts, libraries, fonts, languages,
#: certificates, time. Tools do not see the rest.
_ETC = (
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "environment-modules",
    "fonts",
    "ghostscript",
    "group",
    "host.conf",
    "hosts",
    "ImageMagick-6",
    "ImageMagick-7",
    "inputrc",
    "java-*",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "magic.mime",
    "mailcap",
    "mime.types",
    "mke2fs.conf",
    "nsswitch.conf",
    "nvidia-container-runtime",
    "OpenCL",
    "openmpi",
    "papersize",
    "passwd",
    "perl",
    "pki",
    "profile",
    "profile.d",
    "protocols",
    "python2*",
    "python3*",
    "R",
    "resolv.conf",
    "rpc",
    "services",
    "shells",
    "ssl",
    "terminfo",
    "texmf",
    "timezone",
    "vulkan",
    "xdg",
)


def copy_settings(folder: Path, more_paths: Iterable[str]) -> None:
    """Copy the node's settings that tools may see, if everybody may read them, to ``folder``.

    ``more_paths`` lists further paths, of which those in /etc are copied.

    Raises:
        OSError: The folder could not be written.
    """
    chosen = [path for name in _ETC for path in Path("/etc").glob(name)]
    chosen += [Path(path) for path in more_paths if within(path, "/etc")]
    folder.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        _copy(path, folder / path.relative_to("/etc"))
    names = folder / "resolv.conf"
    text = names.read_text(errors="replace") if names.is_file() else ""
    names.unlink(missing_ok=True)
    names.write_text(build_resolver_settings(text))


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):  # The file has gone, or not everybody may read it.
        status = source.lstat()
        if stat.S_ISLNK(status.st_mode):
            _copy_link(source, target)
        elif stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_IROTH:
            target.mkdir(parents=True, exist_ok=True)
            for entry in source.iterdir():
                _copy(entry, target / entry.name)
        elif stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IROTH:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _copy_link(source: Path, target: Path) -> None:
    """Copy a link to the system or the settings as a link.

    Other links are replaced by their targets.
    """
    end = os.path.realpath(source)
    if any(within(end, folder) for folder in (*SYSTEM, "/etc")):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source.readlink())
    else:
        _copy(Path(end), target)
