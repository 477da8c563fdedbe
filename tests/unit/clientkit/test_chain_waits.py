"""Messages about a chain that does not go on."""

import pytest

from sluice.clientkit.connection import connected
from sluice.clientkit.watch import outage, wait_reasons
from sluice.clientkit.watch.chain import follow_chain
from sluice.clientkit.watch.outage import OutageMessages
from sluice.clientkit.watch.wait_reasons import ChainWaits
from sluice.contracts.chains.chains import ChainStep
from sluice.contracts.common.states import StepState
from tests.unit.clientkit.chains import make_chain_with_steps

FULL = "waits for a storage of type intermediate: scratch is disabled"


async def test_reason_of_a_step_that_cannot_start_is_printed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wait_reasons, "LONG_WAIT", -1)
    reports: list[tuple[str, str]] = []
    stuck = make_chain_with_steps(
        ChainStep(name="cut", state=StepState.STARTING, reason=FULL),
        ChainStep(name="sum", state=StepState.FAILED, reason="1 of 1 job failed"),
    )
    async with connected("http://127.0.0.1:9") as nobody:
        waits = ChainWaits(nobody, lambda step, why: reports.append((step, why)), for_nodes=True)
        waits.check_starts(make_chain_with_steps(ChainStep(name="cut", state=StepState.STARTING)))
        assert reports == []
        waits.check_starts(stuck)
        waits.check_starts(stuck)
    assert reports == [("cut", FULL)]


async def test_system_that_does_not_answer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class OutageError(Exception):
        pass

    def tell(sentence: str) -> None:
        raise OutageError(sentence)

    monkeypatch.setattr(outage, "MESSAGE_DELAY", -1)
    async with connected("http://127.0.0.1:9") as nobody:
        with pytest.raises(OutageError, match=r"system at http://127\.0\.0\.1:9 does not answer"):
            await follow_chain(
                nobody,
                make_chain_with_steps(),
                on_look=lambda *_: None,
                on_outage=tell,
                for_nodes=True,
            )


def test_outage_and_its_end_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    printed_lines: list[str] = []
    messages = OutageMessages("http://127.0.0.1:9", printed_lines.append)
    messages.record_failure()
    messages.record_answer()
    assert printed_lines == [], "a short outage is not reported"
    monkeypatch.setattr(outage, "MESSAGE_DELAY", -1)
    for _ in range(2):
        messages.record_failure()
    for _ in range(2):
        messages.record_answer()
    assert printed_lines == [
        "the system at http://127.0.0.1:9 does not answer; waiting for it. Start it with"
        " `sluice up`.",
        "the system at http://127.0.0.1:9 answers again",
    ]
    OutageMessages("https://far.example", printed_lines.append).record_failure()
    assert printed_lines[-1] == "the system at https://far.example does not answer; waiting for it."
