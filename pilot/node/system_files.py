"""Which of a node's files belong to its system, so that every tool may read them: programs,
libraries, what they are set up by."""

import os
import shutil
import site
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pilot.sandbox.network import name_servers

#: Top folders of systems; some are links to others.
_SYSTEM = ("/usr", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
#: What the kernel tells about processors, which libraries ask for.
_PROCESSORS = "/sys/devices/system"
#: Of the folder with the node's settings, what programs of all kinds look at: names of users and
#: hosts, libraries, fonts, languages, certificates, time. Nothing else of it is a tool's business.
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
#: Beside programs, in a folder of theirs.
_BESIDE = ("bin", "sbin", "lib", "lib32", "lib64", "libexec")


def system_paths(search_path: str, more: Iterable[str]) -> list[str]:
    """Files and folders of the system, of the programs on ``search_path``, and of those that are
    installed with Sluice; ``more``: what an operator adds. None lies in another. Links among them
    stay links."""
    found: list[str] = []
    for path in (*_SYSTEM, _PROCESSORS, *_own(), *_of_programs(search_path), *more):
        if os.path.lexists(path) and not any(within(path, known) for known in found):
            found = [known for known in found if not within(known, path)] + [path]
    return found


def copy_settings(folder: Path, more: Iterable[str]) -> None:
    """The node's settings that tools may look at, as far as everybody may read them, are copied to
    ``folder``. ``more``: further ones, with their paths. Raises ``OSError``."""
    chosen = [path for name in _ETC for path in Path("/etc").glob(name)]
    chosen += [Path(path) for path in more if within(path, "/etc")]
    folder.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        _copy(path, folder / path.relative_to("/etc"))
    names = folder / "resolv.conf"
    said = names.read_text(errors="replace") if names.is_file() else ""
    names.unlink(missing_ok=True)
    names.write_text(name_servers(said))


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):  # gone meanwhile, or not for everybody
        found = source.lstat()
        if stat.S_ISLNK(found.st_mode):
            _copy_link(source, target)
        elif stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IROTH:
            target.mkdir(parents=True, exist_ok=True)
            for entry in source.iterdir():
                _copy(entry, target / entry.name)
        elif stat.S_ISREG(found.st_mode) and found.st_mode & stat.S_IROTH:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _copy_link(source: Path, target: Path) -> None:
    """As it is where it leads to the system or the settings themselves, else what it leads to."""
    end = os.path.realpath(source)
    if any(within(end, folder) for folder in (*_SYSTEM, "/etc")):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source.readlink())
    else:
        _copy(Path(end), target)


def _own() -> Iterator[str]:
    """What is installed with Sluice, pipeline packs with their programs among it, and Python."""
    yield from dict.fromkeys((sys.prefix, sys.base_prefix))
    installed = site.getsitepackages()
    for path in map(os.path.abspath, filter(None, sys.path)):
        # Installed in place: of such a folder only the packages, whatever else lies there.
        if os.path.isdir(path) and not any(within(path, place) for place in installed):
            yield from _packages(path)


def _packages(folder: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if os.path.isfile(f"{entry.path}/__init__.py"):
            yield entry.path


def _of_programs(search_path: str) -> Iterator[str]:
    for folder in search_path.split(os.pathsep):
        above, name = os.path.split(os.path.abspath(folder))
        if not folder or not os.path.isdir(folder):
            continue
        if os.path.isfile(f"{above}/pyvenv.cfg") or os.path.isdir(f"{above}/conda-meta"):
            yield above
        elif name in _BESIDE and above != "/":
            yield from (path for part in _BESIDE if os.path.isdir(path := f"{above}/{part}"))
        else:
            yield folder


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
