"""docker-compose.yml agrees with the code, and each rule finds violations."""

import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import pytest

from tests.deploy import container_rights, processes
from tests.deploy.compose_files import FILE, PILOT, SERVICES, list_schema_errors, replace_text
from tests.deploy.composition import Composition, make_secrets


def find_violations(composition: Composition) -> list[str]:
    return list(
        chain(processes.find_violations(composition), container_rights.find_violations(composition))
    )


def find_schema_errors(composition: Composition) -> list[str]:
    return list_schema_errors(composition.data)


def test_compose_file_follows_the_published_schema(composition: Composition) -> None:
    assert find_schema_errors(composition) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    read_only: true", "    read_onyl: true"),
        ("condition: service_healthy", "condition: healthy"),
        ("replicas: 2", "replicas: [2]"),
    ],
)
def test_violation_of_the_schema_is_found(
    composition: Composition, before: str, after: str
) -> None:
    replace_text(composition.root / FILE, before, after)
    assert find_schema_errors(composition)


def test_compose_file_agrees_with_the_code(composition: Composition) -> None:
    assert find_violations(composition) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "finding"),
    [
        (FILE, '"serve", "dms"', '"serve", "cms"', "cms"),
        (FILE, '"serve", "intake"', '"serve", "watcher"', "the system has"),
        (FILE, '"sluice", "setup", "broker"', '"sluice", "setup", "queues"', "queues"),
        (FILE, '"setup", "databases"', '"setup", "databases", "--force"', "--force"),
        (
            FILE,
            '"storage", "init", "/data"',
            '"storage", "init", "/store"',
            "/store has to be one volume",
        ),
        (FILE, "    volumes:\n      - data:/data:ro\n", "", "/data has to be one volume"),
        (
            FILE,
            "SLUICE_DMS_STORAGE_ROOTS: /data",
            "SLUICE_DMS_STORAGE_ROOTS: /store",
            "the DMS refuses storages in /data",
        ),
        (FILE, "data:/data:ro", "data:/data", "operator: it shows what lies in /data"),
        (FILE, "      SLUICE_DMS_URL:", "      SLUICE_DMS_ADDRESS:", "reads no SLUICE_DMS_ADDRESS"),
        (SERVICES, "ACCOUNTS=true", "ACCOUNTS=false", "need not say who they are"),
        (
            FILE,
            "TOKEN_FILE: /run/secrets/sluice_operator_admin_token",
            "TOKEN_FILE: /run/secrets/admin_token",
            "SLUICE_TOKEN_FILE names /run/secrets/admin_token, which it does not have",
        ),
        (FILE, '["sluice-pilot"]', '["sluice-pilot", "--speed=2"]', "no option --speed=2"),
        (FILE, "replicas: 2", "replicas: 1", "has to run twice"),
        (FILE, '"127.0.0.1:8081:8081"', '"127.0.0.1:8081:8181"', "opens port 8181"),
        (FILE, '"127.0.0.1:8080:8080"', '"8080:8080"', "open to the network"),
        (FILE, "127.0.0.1:8083/readyz", "127.0.0.1:8082/readyz", "asks elsewhere than port 8083"),
        (FILE, "127.0.0.1:8085/readyz", "127.0.0.1:8085/ready", "asks for /ready, which"),
        (
            FILE,
            "      - sluice_wms_broker_url\n      - sluice_chains",
            "      - sluice_chains",
            "SLUICE_WMS_BROKER_URL",
        ),
        (
            FILE,
            "deploy/secrets/sluice_dms_broker_url",
            "deploy/secrets/dms_broker_url",
            "secret sluice_dms_broker_url: deploy",
        ),
        (
            FILE,
            "      - sluice_operator_secret_key\n",
            "      - sluice_operator_key\n",
            "called sluice_operator_key",
        ),
        (
            FILE,
            "wms_broker_url\n      - sluice_encryption_keys\n",
            "wms_broker_url\n",
            "cannot encrypt",
        ),
        (
            "deploy/secrets.sh",
            "head -c 32",
            "head -c 24",
            "SLUICE_ENCRYPTION_KEYS (in the folder",
        ),
        (
            FILE,
            "PASSWORD_FILE: /run/secrets/postgres_password",
            "PASSWORD_FILE: /run/secrets/password",
            "which it does not have",
        ),
        (
            FILE,
            "  prometheus-data:\n  grafana",
            "  grafana",
            "volume prometheus-data is not defined",
        ),
        (
            FILE,
            "./deploy/prometheus/alerts.yml:",
            "./deploy/prometheus/rules.yml:",
            "does not exist",
        ),
        (FILE, "      target: pilot", "      target: pilots", "no target pilots"),
        (FILE, "sluice-pilot:0.2.0", "sluice-pilot:latest", "and the version is"),
        (FILE, "image: postgres:18", "image: postgres", "postgres is another image tomorrow"),
        (FILE, "prometheus:v3.5.0", "prometheus:latest", "latest is another image tomorrow"),
        (FILE, "          memory: 4G\n", "", "pilot: no limit of memory"),
        (FILE, "stop_grace_period: 30m", "stop_grace_period: 30s", "is killed 30 s after"),
        (FILE, "stop_grace_period: 30s", "stop_grace_period: 10s", "is killed 10 s after"),
        (
            FILE,
            "x-restricted: &restricted\n  <<: *container\n  read_only: true",
            "x-restricted: &restricted\n  <<: *container",
            "read_only has to be True",
        ),
        (FILE, "      max-size: 20m\n", "", "its log grows forever"),
        (
            FILE,
            '    healthcheck:\n      test: ["CMD", "pg',
            '    x-check:\n      test: ["CMD", "pg',
            "has no check",
        ),
        (
            FILE,
            '"serve", "wms"]',
            '"serve", "wms"]\n    depends_on: {postgres: {condition: service_healthy}}',
            "wms: must not",
        ),
        (SERVICES, "SLUICE_LOG_LEVEL", "SLUICE_LOGLEVEL", "no setting is called SLUICE_LOGLEVEL"),
        (
            SERVICES,
            "SLUICE_ADDRESSES__WMS",
            "SLUICE_ADDRESSES__VMS",
            "no setting is called SLUICE_ADDRESSES__VMS",
        ),
        (
            SERVICES,
            "http://watcher:8084",
            "http://watcher:8083",
            "watcher listens on 8084, not on 8083",
        ),
        (SERVICES, "http://chains:8083", "http://chain:8083", "there is no service chain"),
        (SERVICES, "SLUICE_HOST=0.0.0.0", "SLUICE_HOST=127.0.0.1", "where nobody outside"),
        (
            SERVICES,
            "SLUICE_DECLARE_QUEUES=false",
            "SLUICE_DECLARE_QUEUES=true",
            "may not declare queues",
        ),
        (SERVICES, "SLUICE_LOG_LEVEL=INFO", "SLUICE_LOG_LEVEL=LOUD", "must be one of"),
        (
            PILOT,
            "SLUICE_PILOT_CORES",
            "SLUICE_PILOT_CORE",
            "no setting is called SLUICE_PILOT_CORE",
        ),
        (FILE, "      - wms.key\n", "      - dms.key\n", "wms: has the key dms.key"),
        (FILE, "      - wms.key\n", "", "wms: lacks the key wms.key"),
        (SERVICES, "KEYS=/run/secrets", "KEYS=/run/keys", "keys are looked for in /run/keys"),
        (PILOT, "FILE=/run/secrets/pilot_token", "FILE=/run/secrets/token", "does not have"),
        (PILOT, "SLUICE_PILOT_CORES=2", "SLUICE_PILOT_CORES=3", "limit of cores differ"),
        (PILOT, "/data/pilots", "/scratch", "is on no volume"),
        (PILOT, "gateway:8090", "gateway:8080", "gateway listens on 8090"),
        (
            "deploy/secrets.sh",
            "@postgres:5432/sluice_$service",
            "@postgres:5433/sluice_$service",
            "postgres listens on 5432",
        ),
        ("deploy/secrets.sh", "@rabbitmq:15672", "@rabbitmq:5672", "rabbitmq listens on 15672"),
        (
            "deploy/secrets.sh",
            "5432/sluice_$service",
            "5432/sluice",
            "each service needs its own database",
        ),
        ("deploy/secrets.sh", "amqp://sluice_$service", "amqp://sluice", "login"),
        (
            "deploy/secrets.sh",
            "keep grafana_password",
            "keep grafana_pass",
            "does not make grafana_password",
        ),
    ],
)
def test_disagreement_with_the_code_is_found(
    composition: Composition, file: str, before: str, after: str, finding: str
) -> None:
    replace_text(composition.root / file, before, after)
    all_findings = find_violations(composition)
    assert any(finding in one for one in all_findings), all_findings


@contextmanager
def serve_status(status: int) -> Iterator[int]:
    """Serve one status for all requests, and yield the port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    listening = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield listening.server_port
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_health_check_distinguishes_ready_from_not_ready(
    composition: Composition, status: int, healthy: bool
) -> None:
    checks = [service["healthcheck"]["test"] for service in composition.served.values()]
    assert len({re.sub(r":\d+", "", " ".join(check)) for check in checks}) == 1, (
        "all services have the same health check"
    )
    with serve_status(status) as port:
        program, *arguments = [re.sub(r":\d{4}/", f":{port}/", part) for part in checks[0][1:]]
        assert program == "python"
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, timeout=60, check=False
        )
    assert (done.returncode == 0) is healthy


def test_health_check_fails_without_a_listening_service(composition: Composition) -> None:
    with serve_status(200) as port:
        pass
    arguments = [
        re.sub(r":\d{4}/", f":{port}/", part)
        for part in composition.services["dms"]["healthcheck"]["test"][2:]
    ]
    assert (
        subprocess.run(
            [sys.executable, *arguments], capture_output=True, timeout=60, check=False
        ).returncode
        != 0
    )


def test_secrets_are_kept_on_repetition_and_hidden_from_other_users(
    composition: Composition,
) -> None:
    script, folder = composition.root / "deploy" / "secrets.sh", composition.root / "made"
    first = make_secrets(script, folder)
    assert make_secrets(script, folder) == first
    for name in ("sluice_setup_management_url", "sluice_setup_admin_url"):
        (folder / name).unlink()
    assert make_secrets(script, folder) == first, (
        "the administrators' passwords are kept in other files"
    )
    assert folder.stat().st_mode & 0o077 == 0
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}, (
        "users of containers may read them"
    )
    passwords = re.findall(r"[0-9a-f]{48}", "\n".join(first.values()))
    # The passwords of PostgreSQL's and RabbitMQ's administrators are in two files each.
    assert len(set(passwords)) == len(passwords) - 2 == 23


def test_secrets_are_ignored_by_git() -> None:
    assert (
        subprocess.run(
            ["git", "check-ignore", "-q", "deploy/secrets/postgres_password"], check=False
        ).returncode
        == 0
    )
