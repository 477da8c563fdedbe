"""Alerts, dashboards and scrape jobs use existing metrics, and each alert has a runbook section."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.messaging.queues import QUEUES
from sluice.servicekit.settings import Addresses
from tests.deploy import promql
from tests.deploy.compose_files import replace_text
from tests.deploy.composition import Composition, read_yaml
from tests.deploy.processes import CONTAINER_PORTS, find_package, has_route

ALERTS, PROMETHEUS = "deploy/prometheus/alerts.yml", "deploy/prometheus/prometheus.yml"
DASHBOARD, OPERATE = "deploy/grafana/dashboards/sluice.json", "docs/how-to/operate.md"
GRAFANA = "deploy/grafana/provisioning"


def read_file(composition: Composition, name: str) -> Any:
    return read_yaml(composition.root / name)


def list_alerts(composition: Composition) -> list[dict[str, Any]]:
    return [rule for group in read_file(composition, ALERTS)["groups"] for rule in group["rules"]]


def list_panels(composition: Composition) -> list[dict[str, Any]]:
    """Return the panels that show data, without headings of rows."""
    files = sorted((composition.root / DASHBOARD).parent.glob("*.json"))
    dashboards = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return [
        panel for dashboard in dashboards for panel in dashboard["panels"] if panel["type"] != "row"
    ]


def check_alerts(composition: Composition) -> Iterator[str]:
    page = (composition.root / OPERATE).read_text(encoding="utf-8")
    sections = re.findall(r"^#+ (Sluice\w+)$", page, re.MULTILINE)
    names = [rule["alert"] for rule in list_alerts(composition)]
    if sorted(sections) != sorted(names):
        difference = set(sections) ^ set(names) or "something is there twice"
        yield f"{OPERATE} and {ALERTS} differ: {difference}"
    for rule in list_alerts(composition):
        yield from promql.find_unknown_names(rule["expr"])
        annotations = rule["annotations"]
        yield from promql.find_unknown_labels(
            rule["expr"], annotations["summary"], annotations["description"]
        )
        if annotations["runbook"] != f"{OPERATE}#{rule['alert'].lower()}":
            yield f"{rule['alert']}: its runbook is {annotations['runbook']}"
        if rule["labels"]["severity"] not in {"critical", "warning", "info"} or not rule.get("for"):
            yield f"{rule['alert']}: severity and time to wait have to be given"


def check_panels(composition: Composition) -> Iterator[str]:
    source = read_file(composition, f"{GRAFANA}/datasources/prometheus.yml")["datasources"][0][
        "uid"
    ]
    for panel in list_panels(composition):
        if not panel["targets"]:
            yield f"panel {panel['title']} shows nothing"
        for target in panel["targets"]:
            yield from promql.find_unknown_names(target["expr"])
            yield from promql.find_unknown_labels(target["expr"], target.get("legendFormat", ""))
            if target["datasource"]["uid"] != source:
                yield f"panel {panel['title']}: no data source {target['datasource']['uid']}"
    ids = [panel["id"] for panel in list_panels(composition)]
    if len(set(ids)) != len(ids):
        yield "two panels have one id"


def check_scrape_jobs(composition: Composition) -> Iterator[str]:
    configuration = read_file(composition, PROMETHEUS)
    jobs = {job["job_name"]: job for job in configuration["scrape_configs"]}
    if set(jobs) != set(Addresses.model_fields):
        yield f"{PROMETHEUS} asks {sorted(jobs)}"
    for name, job in jobs.items():
        several = composition.services.get(name, {}).get("deploy", {}).get("replicas", 1) > 1
        [target] = job["dns_sd_configs" if "dns_sd_configs" in job else "static_configs"]
        host, port = (
            (target["names"][0], target["port"])
            if "port" in target
            else target["targets"][0].split(":")
        )
        if several is not ("port" in target):
            yield f"{name}: each of several instances has to be looked up, a single one to be named"
        if host != name or int(port) != CONTAINER_PORTS.get(name):
            yield f"{name}: is asked at {host}:{port}"
        if (
            job["authorization"]["credentials_file"]
            not in composition.secrets("prometheus").values()
        ):
            yield f"{name}: there is no {job['authorization']['credentials_file']}"
        if name in CONTAINER_PORTS and not has_route(
            find_package(name), job.get("metrics_path", "/metrics")
        ):
            yield f"{name}: has no {job.get('metrics_path')}"
    yield from _check_files(composition, configuration)


def _check_files(composition: Composition, configuration: dict[str, Any]) -> Iterator[str]:
    """Find files that a container should read but does not have."""
    rule_files = [f"/etc/prometheus/{Path(file).name}" for file in configuration["rule_files"]]
    rule_files += [
        part.partition("=")[2]
        for part in composition.services["prometheus"]["command"]
        if "config.file" in part
    ]
    yield from (
        f"prometheus: {file} is not mounted"
        for file in rule_files
        if file not in composition.volumes("prometheus")
    )
    if configuration["rule_files"] != [
        file for file in rule_files if file in configuration["rule_files"]
    ]:
        yield f"prometheus: looks for rules in {configuration['rule_files']}"
    folder = read_file(composition, f"{GRAFANA}/dashboards/sluice.yml")["providers"][0]["options"][
        "path"
    ]
    mounts = composition.volumes("grafana")
    if (
        mounts.get(folder) != "./" + str(Path(DASHBOARD).parent)
        or mounts.get("/etc/grafana/provisioning") != f"./{GRAFANA}"
    ):
        yield f"grafana: dashboards are looked for in {folder}"
    home = composition.environment("grafana")["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    if (
        not (composition.root / DASHBOARD).with_name(Path(home).name).exists()
        or str(Path(home).parent) != folder
    ):
        yield f"grafana: there is no {home}"
    if (
        read_file(composition, f"{GRAFANA}/datasources/prometheus.yml")["datasources"][0]["url"]
        != "http://prometheus:9090"
    ):
        yield "grafana: asks elsewhere than Prometheus"


def find_violations(composition: Composition) -> list[str]:
    return [
        *check_alerts(composition),
        *check_panels(composition),
        *check_scrape_jobs(composition),
    ]


def test_alerts_dashboards_and_scrape_jobs_agree_with_the_code(composition: Composition) -> None:
    assert find_violations(composition) == []
    assert len(list_alerts(composition)) > 20
    assert len(list_panels(composition)) > 20


def test_dead_letters_of_every_queue_raise_a_critical_alert(composition: Composition) -> None:
    [rule] = [rule for rule in list_alerts(composition) if "sluice_queue_dead" in rule["expr"]]
    assert "{" not in rule["expr"], "the rule covers all queues"
    assert rule["labels"]["severity"] == "critical"
    assert QUEUES


@pytest.mark.parametrize(
    ("file", "before", "after", "finding"),
    [
        (
            ALERTS,
            "sluice_outbox_oldest_seconds",
            "sluice_outbox_age_seconds",
            "no service exports sluice_outbox_age_seconds",
        ),
        (
            ALERTS,
            'sluice_jobs{state="quarantined"}',
            'sluice_jobs{status="quarantined"}',
            "sluice_jobs has no label status",
        ),
        (
            ALERTS,
            'sluice_jobs{state="quarantined"}',
            'sluice_jobs{state="stuck"}',
            "state of sluice_jobs is never stuck",
        ),
        (
            ALERTS,
            'outcome=~"failed|lost"',
            'outcome=~"failed|gone"',
            "outcome of sluice_attempts_total is never gone",
        ),
        (ALERTS, "min by (job, dependency)", "min by (job, queue)", "has no label queue"),
        (ALERTS, 'absent(up{job="wms"})', 'absent(up{job="vms"})', "job of up is never vms"),
        (ALERTS, "{{ $labels.storage }} will", "{{ $labels.place }} will", "has no label place"),
        (
            ALERTS,
            "increase(sluice_leases_expired_total[15m])",
            "increase(sluice_leases_expired_total)",
            "expected type",
        ),
        (ALERTS, "alert: SluiceJobsQuarantined", "alert: SluiceJobsStuck", "differ"),
        (ALERTS, "severity: critical", "severity: bad", "severity and time"),
        (OPERATE, "## SluiceNoPilots", "## No pilots", "differ"),
        (
            DASHBOARD,
            "sum(rate(sluice_jobs_leased_total[5m]))",
            "sum(rate(sluice_jobs_leased[5m]))",
            "exports sluice_jobs_leased",
        ),
        (DASHBOARD, "{{outcome}}", "{{result}}", "has no label result"),
        (DASHBOARD, '"uid": "prometheus"', '"uid": "other"', "no data source other"),
        (PROMETHEUS, "dms:8081", "dms:8080", "dms: is asked at dms:8080"),
        (PROMETHEUS, "secrets/sluice_metrics_token", "secrets/token", "there is no /run"),
        (PROMETHEUS, "job_name: intake", "job_name: inlet", "asks"),
        (PROMETHEUS, "names: [chains]", "names: [chain]", "is asked at chain:8083"),
        (PROMETHEUS, "/etc/prometheus/alerts.yml", "/etc/prometheus/rules.yml", "is not mounted"),
        (
            f"{GRAFANA}/dashboards/sluice.yml",
            "/etc/sluice/dashboards",
            "/etc/dashboards",
            "dashboards are looked for",
        ),
        ("docker-compose.yml", "dashboards/sluice.json", "dashboards/home.json", "there is no"),
    ],
)
def test_unknown_metric_label_or_address_is_found(
    composition: Composition, file: str, before: str, after: str, finding: str
) -> None:
    if file == DASHBOARD:
        before, after = (
            text if text.startswith('"uid') else json.dumps(text)[1:-1] for text in (before, after)
        )
    replace_text(composition.root / file, before, after)
    all_findings = find_violations(composition)
    assert any(finding in one for one in all_findings), all_findings
