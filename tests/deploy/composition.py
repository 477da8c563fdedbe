"""docker-compose.yml as data, with what it takes from files beside it."""

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

#: Images made here; all others are taken as they are.
OWN_IMAGES = {"sluice-services": "services", "sluice-pilot": "pilot"}


@dataclass(frozen=True)
class Composition:
    """``root``: the folder of docker-compose.yml."""

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
        """Those that run an image made here."""
        return {
            name: service
            for name, service in self.services.items()
            if service["image"].split(":")[0] in OWN_IMAGES
        }

    @property
    def served(self) -> dict[str, dict[str, Any]]:
        """Those that are a service of Sluice: by the name in the command ``sluice serve NAME``."""
        return {
            name: service
            for name, service in self.own.items()
            if service["command"][:2] == ["sluice", "serve"]
        }

    def environment(self, name: str) -> dict[str, str]:
        """What the containers of a service find in their environment; the service's own part goes
        before its files."""
        found: dict[str, str] = {}
        for file in self.services[name].get("env_file", []):
            found |= {
                key: value or ""
                for key, value in dotenv_values(self.root / file, interpolate=False).items()
            }
        return found | {
            key: str(value) for key, value in self.services[name].get("environment", {}).items()
        }

    def secrets(self, name: str) -> dict[str, str]:
        """Secret → where the container finds it."""
        found = {}
        for secret in self.services[name].get("secrets", []):
            source = secret if isinstance(secret, str) else secret["source"]
            target = secret if isinstance(secret, str) else secret["target"]
            found[source] = target if target.startswith("/") else f"/run/secrets/{target}"
        return found

    def volumes(self, name: str) -> dict[str, str]:
        """Path in the container → named volume, or file beside docker-compose.yml."""
        mounts = [mount.split(":") for mount in self.services[name].get("volumes", [])]
        return {mount[1]: mount[0] for mount in mounts}

    def is_read_only(self, name: str, folder: str) -> bool:
        """May the containers of a service only read what is mounted at ``folder``?"""
        mounts = [mount.split(":") for mount in self.services[name].get("volumes", [])]
        return any(mount[1] == folder and mount[2:] == ["ro"] for mount in mounts)

    @property
    def secret_files(self) -> Mapping[str, str]:
        """What deploy/secrets.sh makes: name → text."""
        return _secrets_of((self.root / "deploy" / "secrets.sh").read_text(encoding="utf-8"))


def read_yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def make_secrets(script: Path, folder: Path) -> dict[str, str]:
    """What the script makes in the folder, or finds there: name → text."""
    subprocess.run(["bash", str(script), str(folder)], check=True, capture_output=True, timeout=60)
    return {file.name: file.read_text(encoding="utf-8").strip() for file in folder.iterdir()}


@cache
def _secrets_of(script: str) -> Mapping[str, str]:
    """Made once for all tests that do not change the script."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "secrets.sh"
        path.write_text(script, encoding="utf-8")
        return MappingProxyType(make_secrets(path, path.with_name("made")))
