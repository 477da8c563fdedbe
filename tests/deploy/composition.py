"""docker-compose.yml as data, with the files that it uses."""

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from dotenv import dotenv_values

#: Images that are built here; all others are pulled.
OWN_IMAGES = {"sluice-services": "services", "sluice-pilot": "pilot"}


@dataclass(frozen=True)
class Composition:
    """``root`` is the folder of docker-compose.yml."""

    root: Path

    @cached_property
    def data(self) -> dict[str, Any]:
        loaded: dict[str, Any] = read_yaml(self.root / "docker-compose.yml")
        return loaded

    @property
    def services(self) -> dict[str, dict[str, Any]]:
        services: dict[str, dict[str, Any]] = self.data["services"]
        return services

    @property
    def own(self) -> dict[str, dict[str, Any]]:
        """Return the services that run an image built here."""
        return {
            name: service
            for name, service in self.services.items()
            if service["image"].split(":")[0] in OWN_IMAGES
        }

    @property
    def served(self) -> dict[str, dict[str, Any]]:
        """Return the services with the command ``sluice serve NAME``."""
        return {
            name: service
            for name, service in self.own.items()
            if service["command"][:2] == ["sluice", "serve"]
        }

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of a service's containers; its own part overrides its files."""
        variables: dict[str, str] = {}
        for file in self.services[name].get("env_file", []):
            variables |= {
                key: value or ""
                for key, value in dotenv_values(self.root / file, interpolate=False).items()
            }
        return variables | {
            key: str(value) for key, value in self.services[name].get("environment", {}).items()
        }

    def secrets(self, name: str) -> dict[str, str]:
        """Map each secret to its path in the container."""
        targets = {}
        for secret in self.services[name].get("secrets", []):
            source = secret if isinstance(secret, str) else secret["source"]
            target = secret if isinstance(secret, str) else secret["target"]
            targets[source] = target if target.startswith("/") else f"/run/secrets/{target}"
        return targets

    def volumes(self, name: str) -> dict[str, str]:
        """Map each path in the container to a named volume or a local file."""
        mounts = [mount.split(":") for mount in self.services[name].get("volumes", [])]
        return {mount[1]: mount[0] for mount in mounts}

    def is_read_only(self, name: str, folder: str) -> bool:
        """Return whether the mount at ``folder`` is read-only."""
        mounts = [mount.split(":") for mount in self.services[name].get("volumes", [])]
        return any(mount[1] == folder and mount[2:] == ["ro"] for mount in mounts)

    @property
    def secret_files(self) -> Mapping[str, str]:
        """Map the names of files of deploy/secrets.sh to their texts."""
        return _run_secrets_script(
            (self.root / "deploy" / "secrets.sh").read_text(encoding="utf-8")
        )


def read_yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def make_secrets(script: Path, folder: Path) -> dict[str, str]:
    """Run the script in a folder, and map the names of its files to their texts."""
    subprocess.run(["bash", str(script), str(folder)], check=True, capture_output=True, timeout=60)
    return {file.name: file.read_text(encoding="utf-8").strip() for file in folder.iterdir()}


@cache
def _run_secrets_script(script: str) -> Mapping[str, str]:
    """Run the script once for all tests that do not change it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "secrets.sh"
        path.write_text(script, encoding="utf-8")
        return MappingProxyType(make_secrets(path, path.with_name("made")))
