"""The installation trusts certificates of the machine's own list."""

import functools
import http.server
import os
import ssl
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.servers.certificates import CertificateAuthority

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
def authority(tmp_path: Path) -> CertificateAuthority:
    return CertificateAuthority(tmp_path / "authority")


@pytest.fixture
def registry(tmp_path: Path, authority: CertificateAuthority) -> Iterator[str]:
    """Yield the HTTPS address of a package index with one package."""
    folder, name = tmp_path / "registry", "tiny-1.0-py3-none-any.whl"
    (folder / "simple" / "tiny").mkdir(parents=True)
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in _WHEEL.items():
            wheel.writestr(path, text)
    (folder / "simple" / "tiny" / "index.html").write_text(f'<a href="/{name}">{name}</a>')
    signed = authority.sign("localhost")
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


def install(
    registry: str, machine: CertificateAuthority, folder: Path, **variables: str
) -> dict[str, subprocess.CompletedProcess[str]]:
    """Install the package with pip and with uv on a machine that trusts only this authority."""
    target = ["--index-url", registry, "tiny"]
    commands: dict[str, list[str | Path]] = {
        "pip": [_BIN / "pip", "install", "--no-cache-dir", "--retries=0", "--target", folder / "p"],
        "uv": [
            _BIN / "uv",
            "pip",
            "install",
            "--no-config",
            "--no-cache",
            "--python",
            _BIN / "python",
            "--target",
            folder / "u",
        ],
    }
    script = f'mount --bind "{machine.file}" "$1"; shift; cd {ROOT}; . "{_SCRIPT}"; exec "$@"'
    [bundle, *_] = [path for path in _read_script_bundles() if Path(path).exists()]
    return {
        program: subprocess.run(
            [
                "unshare",
                "--map-root-user",
                "--mount",
                "bash",
                "-ec",
                script,
                "-",
                bundle,
                *command,
                *target,
            ],
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        for program, command in commands.items()
    }


def test_registry_trusted_by_the_machine_is_trusted_by_pip_and_uv(
    registry: str, authority: CertificateAuthority, tmp_path: Path
) -> None:
    done = install(registry, authority, tmp_path, PIP_CONFIG_FILE=os.devnull)
    assert [one.returncode for one in done.values()] == [0, 0], done
    assert (tmp_path / "p" / "tiny.py").exists()
    assert (tmp_path / "u" / "tiny.py").exists()


def test_registry_of_an_unknown_authority_is_refused(registry: str, tmp_path: Path) -> None:
    done = install(
        registry, CertificateAuthority(tmp_path / "a"), tmp_path, PIP_CONFIG_FILE=os.devnull
    )
    assert all(one.returncode != 0 for one in done.values()), done


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "file"])
def test_certificate_setting_of_the_user_applies_to_pip_and_uv(
    registry: str, authority: CertificateAuthority, tmp_path: Path, variable: str
) -> None:
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\ncert = {authority.file}\n")
    own = {variable: str(authority.file), "PIP_CONFIG_FILE": os.devnull}
    if variable == "file":
        own = {"PIP_CONFIG_FILE": str(configuration)}
    done = install(registry, CertificateAuthority(tmp_path / "another"), tmp_path, **own)
    assert [one.returncode for one in done.values()] == [0, 0], done


def _read_script_bundles() -> list[str]:
    """Return the paths at which the script looks for the machine's list."""
    return [word.rstrip(";") for word in _SCRIPT.read_text().split() if word.startswith("/etc/")]
