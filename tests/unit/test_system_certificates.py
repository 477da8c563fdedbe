"""The installation trusts a registry whose certificate is in the machine's own list alone."""

import functools
import http.server
import ssl
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.servers.certificates import Authority

_SCRIPT = ROOT / "scripts" / "system-certificates.sh"
_BIN = ROOT / ".venv" / "bin"
_ABOUT = "tiny-1.0.dist-info"
_WHEEL = {
    "tiny.py": "",
    f"{_ABOUT}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    f"{_ABOUT}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{_ABOUT}/RECORD": "",
}


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def registry(tmp_path: Path, authority: Authority) -> Iterator[str]:
    """The address of an index with one package, by HTTPS."""
    folder, name = tmp_path / "registry", "tiny-1.0-py3-none-any.whl"
    (folder / "simple" / "tiny").mkdir(parents=True)
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in _WHEEL.items():
            wheel.writestr(path, text)
    (folder / "simple" / "tiny" / "index.html").write_text(f'<a href="/{name}">{name}</a>')
    signed = authority.signs("localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed.certificate, signed.key)
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"https://localhost:{server.server_port}/simple/"
        server.shutdown()
        serving.join()


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "unknown"])
def test_a_registry_is_trusted_as_this_machine_trusts_it(
    registry: str, authority: Authority, tmp_path: Path, *, trusted: bool
) -> None:
    options = ["--no-config", "--no-cache", "--python", str(_BIN / "python")]
    target = ["--target", str(tmp_path / "packages"), "--index-url", registry, "tiny"]
    known = tmp_path / "list.pem"
    known.write_bytes((authority if trusted else Authority(tmp_path / "another")).file.read_bytes())
    script = f'mount --bind "{known}" "$1"; shift; . "{_SCRIPT}"; exec "$@"'
    [bundle, *_] = [path for path in _script_bundles() if Path(path).exists()]
    done = subprocess.run(
        [
            "unshare",
            "--map-root-user",
            "--mount",
            "bash",
            "-c",
            script,
            "-",
            bundle,
            *(_BIN / "uv", "pip", "install"),
            *options,
            *target,
        ],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is trusted, done.stderr
    assert (tmp_path / "packages" / "tiny.py").exists() is trusted


def _script_bundles() -> list[str]:
    """Return the places where the script looks for the machine's list."""
    line = next(line for line in _SCRIPT.read_text().splitlines() if line.startswith("for "))
    return line.removeprefix("for bundle in ").removesuffix("; do").split()
