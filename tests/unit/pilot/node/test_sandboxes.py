"""Tests of which entries of the search path tools see in a sandbox, and of when a pilot runs
without a sandbox."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.isolation.node.sandboxes import NoSandboxError, find_sandbox
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions, SandboxUse
from pilot.isolation.sandbox.sandbox_instance import SandboxInstance
from pilot.isolation.sandbox.view import View, VisibleFile
from sluice.tools.visible_paths import VisiblePaths, absolute_entries, visible_paths, within

_SYSTEM_PATH = "/usr/bin:/bin"
_PLACES = [
    "/tmp",
    "/dev/shm",
    "/var/tmp",
    "/run" if os.geteuid() == 0 else f"/run/user/{os.getuid()}",
]


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def make_sandbox(own_folder: Path, *path: str | Path, hidden: Sequence[Path] = ()) -> Sandbox:
    """Return the sandbox of a pilot with these entries before those of the system on its search
    path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([*map(str, path), _SYSTEM_PATH]))
        node_sandbox = find_sandbox("required", own_folder / "system", [], hidden_paths=hidden)
    assert isinstance(node_sandbox, Sandbox)
    return node_sandbox


def run_in_sandbox(
    sandbox: Sandbox, own_folder: Path, script: str, *, path: str = "", times: int = 1
) -> str:
    """Run a shell script in the sandbox and return the output of its last run."""
    job, tmp = own_folder / "job", own_folder / "job-tmp"
    for folder in (job, tmp):
        folder.mkdir(exist_ok=True)
    instance = SandboxInstance(sandbox, [str(job), str(tmp)], SandboxOptions())
    files = [("/tmp", tmp), (str(job), job)]
    try:
        for _ in range(times):
            with open(job / "said", "w+b") as output_file:
                status = (
                    instance.start(
                        ["sh", "-c", script],
                        environment={"PATH": f"{path}:{_SYSTEM_PATH}"},
                        folder=str(job),
                        streams=[output_file.fileno()] * 2,
                        limits=ProcessLimits(),
                        view=View(
                            [
                                VisibleFile(visible_path, str(real), writable=True)
                                for visible_path, real in files
                            ]
                        ),
                    )
                    .end()
                    .status
                )
            shutil.rmtree(tmp)
            tmp.mkdir()
        text = (job / "said").read_text().strip()
    finally:
        instance.close()
    assert status == 0, text
    return text


def write_program(folder: Path, name: str = "hello", output_text: str = "hello") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {output_text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def folders_with_unusual_names() -> Iterator[list[Path]]:
    """Make a folder with a space and an umlaut in its name at each place where tools have a folder
    of their own."""
    with ExitStack() as ended:
        places = [place for place in _PLACES if os.access(place, os.W_OK)]
        assert len(places) > 2
        yield [
            Path(ended.enter_context(TemporaryDirectory(dir=place, prefix="an ü ")))
            for place in places
        ]


def test_programs_on_the_search_path_are_visible_and_files_beside_them_are_not(
    own_folder: Path, folders_with_unusual_names: list[Path]
) -> None:
    script = ""
    for folder in folders_with_unusual_names:
        write_program(folder / "env" / "bin")
        (folder / "env" / "lib").mkdir()
        (folder / "env" / "lib" / "data").write_text("data")
        (folder / "private").write_text("hush")
        script += f"'{folder}/env/bin/hello'; cat '{folder}/env/lib/data'; echo;"
        script += f"! cat '{folder}/private' 2>/dev/null || exit 9;"
        script += f"! echo x 2>/dev/null > '{folder}/env/bin/hello' || exit 8;"
        script += f"! echo x 2>/dev/null > '{folder}/x' || exit 7;"
    sandbox = make_sandbox(
        own_folder, *(folder / "env" / "bin" for folder in folders_with_unusual_names)
    )
    # Files that the first run leaves below /tmp are gone in the second run.
    assert run_in_sandbox(sandbox, own_folder, script, times=2).split() == ["hello", "data"] * len(
        folders_with_unusual_names
    )
    assert sandbox.dropped == {}


def test_links_to_programs_can_be_followed(own_folder: Path) -> None:
    """Links are an entry of the search path, a parent folder of an entry, and links from program to
    program and from an environment to its interpreter."""
    with TemporaryDirectory(dir="/tmp") as folder:
        real = Path(folder, "real")
        write_program(real / "bin", "one", "one")
        (real / "pyvenv.cfg").touch()
        Path(folder, "link").symlink_to("real")
        Path(folder, "path").symlink_to("real/bin")
        write_program(Path(folder, "package", "bin"), "two", "two")
        write_program(Path(folder, "package", "libexec"), "helper")
        write_program(Path(folder, "alone"), "three", "three")
        tools = Path(folder, "tools")
        tools.mkdir()
        (tools / "two").symlink_to("../package/bin/two")
        (tools / "three").symlink_to(Path(folder, "alone", "three"))
        (Path(folder, "alone", "private")).write_text("hush")
        sandbox = make_sandbox(own_folder, f"{folder}/link/bin", f"{folder}/path", tools)
        script = (
            f"{folder}/link/bin/one; {folder}/path/one; {real}/bin/one; {tools}/two;"
            f" {folder}/package/libexec/helper; {tools}/three; ! test -e {folder}/alone/private"
        )
        assert run_in_sandbox(sandbox, own_folder, script).split() == ["one"] * 3 + [
            "two",
            "hello",
            "three",
        ]


def test_entries_that_cannot_be_visible_are_dropped_with_a_reason(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No entry turns the sandbox off."""
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("HOME", folder)
        entries = [".", "", "some/bin", "/", "/tmp", "/proc/self", "/home", "/run", folder]
        (Path(folder) / "private").write_text("hush")
        sandbox = make_sandbox(own_folder, *entries)
        assert set(sandbox.dropped) == {entry or "''" for entry in entries}
        assert "absolute path" in sandbox.dropped["."]
        assert "separate folder" in sandbox.dropped["/"]
        assert (
            run_in_sandbox(sandbox, own_folder, f"test -e {folder}/private || echo none") == "none"
        )
    assert absolute_entries(":.:a/bin:/usr/bin:/:") == "/usr/bin:/"


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp"])
def test_hidden_paths_are_masked_in_visible_folders(own_folder: Path, place: str) -> None:
    """The home of the system lies in a folder of the search path. The home masks its token, which
    is listed separately as well. A job sees its own files in the home."""
    with TemporaryDirectory(dir=place) as folder:
        home = Path(folder, "home")
        for name in ("token", "storages/other", "env/lib/data"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("hush")
        write_program(Path(folder))
        Path(folder, "password").write_text("hush")
        hidden = [home, home / "token", Path(folder, "password")]
        sandbox = make_sandbox(own_folder, folder, home / "env" / "bin", hidden=hidden)
        own_folder = home / "pilots"
        own_folder.mkdir()
        tried = f"for file in {home}/token {home}/storages/other {folder}/password; do"
        tried += ' cat "$file" 2>/dev/null && exit 9; done;'
        tried += f" touch {home}/x 2>/dev/null && exit 8; hello; ls {home} {own_folder}"
        assert run_in_sandbox(sandbox, own_folder, tried, path=folder, times=2).split() == [
            "hello",
            f"{home}:",
            "pilots",
            f"{own_folder}:",
            "job",
        ]


def test_nested_masks_are_left_out_unless_they_lie_in_a_visible_folder() -> None:
    visible = VisiblePaths({path: path for path in ("/opt", "/opt/home/env")})
    hidden = ["/opt/home", "/opt/home/token", "/opt/home/env/key", "/srv/token"]
    assert visible.masks(hidden) == ["/opt/home", "/opt/home/env/key"]


def test_installation_of_sluice_is_visible_in_a_hidden_folder(tmp_path: Path) -> None:
    hidden = os.path.realpath(sys.prefix + "/..")
    shown_paths = visible_paths(
        f"{sys.prefix}/bin:{tmp_path}", hidden_paths=[hidden, str(tmp_path)]
    )
    assert shown_paths.shows(os.path.realpath(f"{sys.prefix}/bin")) is not None
    assert not any(within(str(tmp_path), path) for path in shown_paths.sources)
    assert "of which tools see nothing" in shown_paths.dropped_paths[str(tmp_path)]


def write_wrapper(folder: Path, name: str, script: str) -> str:
    """Write a program with this name into a folder and return the folder. The script knows the real
    program as ``$real``."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\nreal={shutil.which(name)}\n{script}\n")
    path.chmod(0o755)
    return str(folder)


def test_path_that_the_sandbox_cannot_mount_is_dropped_with_a_reason(own_folder: Path) -> None:
    with TemporaryDirectory(dir="/var/tmp") as folder:
        good, bad = (
            write_program(Path(folder, "good")).parent,
            write_program(Path(folder, "bad")).parent,
        )
        refusing_bubblewrap = write_wrapper(
            Path(folder, "stub"),
            "bwrap",
            f'case "$*" in *{bad}*) echo "bwrap: no way" >&2; exit 1;; esac; exec "$real" "$@"',
        )
        sandbox = make_sandbox(own_folder, refusing_bubblewrap, bad, good)
        assert run_in_sandbox(sandbox, own_folder, f"{good}/hello; ! test -e {bad}") == "hello"
    assert sandbox.dropped == {str(bad): "the sandbox cannot show it: bwrap: no way"}


@pytest.mark.parametrize("use", ["preferred", "required"])
def test_failing_bubblewrap_is_an_error_on_a_node_with_namespaces(
    use: SandboxUse, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = write_wrapper(own_folder / "stub", "bwrap", 'echo "bwrap: out of order" >&2; exit 1')
    monkeypatch.setenv("PATH", f"{broken}:{_SYSTEM_PATH}")
    with pytest.raises(NoSandboxError, match=r"bwrap: out of order.*SLUICE_PILOT_SANDBOX=off"):
        find_sandbox(use, own_folder / "system", [], hidden_paths=[])


def test_preferred_sandbox_is_left_out_on_a_node_without_namespaces(own_folder: Path) -> None:
    """A required sandbox is an error there."""
    code = """
import sys
from pathlib import Path
from pilot.isolation.node.sandboxes import NoSandboxError, find_sandbox
print("found", find_sandbox("preferred", Path(sys.argv[1]), [], hidden_paths=[]))
try:
    find_sandbox("required", Path(sys.argv[1]), [], hidden_paths=[])
except NoSandboxError as error:
    print("refused", error)
"""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    command += [sys.executable, "-c", code, str(own_folder / "system")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found_line, refused = done.stdout.strip().splitlines()[-2:]
    assert found_line.startswith("found namespaces cannot be created on this node: ")
    assert refused.startswith("refused SLUICE_PILOT_SANDBOX is required, but namespaces cannot be")
