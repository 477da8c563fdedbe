"""Figures in the explanation and in the operator's guide are equal to the values in the code."""

import re
from collections.abc import Callable

import pytest

from pilot.runner.expressions.javascript import MEMORY
from pilot.settings import PilotSettings
from sluice.contracts.messaging.queues import DELIVERY_LIMIT
from sluice.servicekit.database import SESSION
from tests.architecture.sources import ROOT
from wms.domain.scheduling.capacity import RESERVATION_DELAY_SECONDS, RESERVATION_DURATION
from wms.settings import WmsSettings

EXPLANATION = "docs/explanation/how-it-works.md"
OPERATION = "docs/how-to/operate.md"
WORDS = {"five": 5}


def _get_default(settings: type[WmsSettings | PilotSettings], name: str) -> Callable[[], float]:
    return lambda: float(settings.model_fields[name].default)


def _read_figure(page: str, sentence: str) -> float:
    text = (ROOT / page).read_text(encoding="utf-8")
    [written_figure] = re.findall(sentence, " ".join(text.split()))
    return float(WORDS.get(written_figure, written_figure))


@pytest.mark.parametrize(
    ("sentence", "figure"),
    [
        (r"the \*lease\* \((\d+) s unless", _get_default(WmsSettings, "lease")),
        (r"one heartbeat \(every (\d+) s\)", _get_default(WmsSettings, "heartbeat")),
        (
            r"grace \((\d+) s, `SLUICE_WMS_DEADLINE_GRACE`\)",
            _get_default(WmsSettings, "deadline_grace"),
        ),
        (
            r"saw this (\w+) times in a row is quarantined",
            _get_default(WmsSettings, "max_node_losses"),
        ),
        (r"was leased for (\d+) s, a pilot", lambda: RESERVATION_DELAY_SECONDS),
        (
            r"until the job fits, for at most (\w+) minutes",
            lambda: RESERVATION_DURATION.total_seconds() / 60,
        ),
        (r"expression may take (\d+) s and", _get_default(PilotSettings, "expression_limit")),
        (r"s and (\d+) MiB", lambda: MEMORY),
        (
            r"database ends its transaction after (\d+) s",
            lambda: float(SESSION["idle_in_transaction_session_timeout"].removesuffix("s")),
        ),
        (r"message that fails (\w+) times goes to the dead letters", lambda: DELIVERY_LIMIT),
    ],
)
def test_figure_in_the_explanation_equals_the_value_in_the_code(
    sentence: str, figure: Callable[[], float]
) -> None:
    assert _read_figure(EXPLANATION, sentence) == figure()


def test_number_of_deliveries_in_the_guide_for_operators_equals_the_delivery_limit() -> None:
    sentence = r"messages of `queue` failed (\w+) times or could not be read"
    assert _read_figure(OPERATION, sentence) == DELIVERY_LIMIT
