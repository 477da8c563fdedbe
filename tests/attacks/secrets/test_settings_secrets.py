"""Test that secrets in the settings of a separate service process are in no log and no answer, even
if the database and the broker refuse connections."""

from pathlib import Path

import pytest

from sluice.setup.service_keys import make_keys
from tests.attacks.credentials import make_bearer_header
from tests.integration.servicekit.process import MODULE, ServiceProcess
from tests.servers.rabbitmq import RabbitServer

SECRETS = {
    "database": "open-the-tables-4711",
    "broker": "open-the-queues-4712",
    "admin": "sluice_open-all-of-it-4713-0123456789abcdef",
    "pilots": "open-for-pilots-4714",
    "pilot keys": "sign-for-pilots-4715",
    "metrics": "open-the-metrics-4716",
    "cookies": "sign-the-forms-4717",
}
#: Additional settings by module.
OWN = {
    "wfms.operator": {"ADMIN_TOKEN": SECRETS["admin"], "SECRET_KEY": SECRETS["cookies"]},
    "wms": {"PILOT_TOKEN": SECRETS["pilots"], "PILOT_KEYS": SECRETS["pilot keys"]},
}


@pytest.mark.parametrize("module", OWN)
async def test_secrets_of_the_settings_are_in_no_log_or_answer(
    module: str, tmp_path: Path, rabbitmq_server: RabbitServer
) -> None:
    """The database does not listen, and the broker refuses the password."""
    make_keys(tmp_path / "keys")
    broker = f"nobody:{SECRETS['broker']}@127.0.0.1:{rabbitmq_server.amqp_port}/nowhere"
    settings = OWN[module] | {
        "DATABASE_URL": f"postgresql://nobody:{SECRETS['database']}@127.0.0.1:1/nothing",
        "BROKER_URL": f"amqp://{broker}",
        "METRICS_TOKEN": SECRETS["metrics"],
        "SERVICE_KEYS": str(tmp_path / "keys"),
        "LOG_LEVEL": "DEBUG",
    }
    prefix = f"SLUICE_{module.removeprefix('wfms.').upper()}_"
    named = {f"{prefix}{name}": value for name, value in settings.items()}
    process = ServiceProcess([*MODULE, module], tmp_path, named)
    await process.answers()
    texts = [await process.waits_for("transport", "ACCESS_REFUSED", "refused")]
    for secret in SECRETS.values():
        for headers in ({}, make_bearer_header(secret), {"authorization": f"Basic {secret}"}):
            for path in ("/readyz", "/metrics", f"/api/v1/chains?token={secret}"):
                texts.append((await process.http.get(path, headers=headers)).text)
    assert await process.stop() == 0
    texts.append(process.log.read_text())
    await process.clean_up()

    keys = [path.read_text().splitlines()[1] for path in (tmp_path / "keys").glob("*.key")]
    assert len(texts[-1]) > 100
    assert [secret for secret in (*SECRETS.values(), *keys) if secret in "".join(texts)] == []
