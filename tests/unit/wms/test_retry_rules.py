"""State of a job after an attempt has ended."""

from dataclasses import replace

import pytest

from sluice.contracts.common.states import ErrorClass, JobState
from sluice.contracts.templates.plan import RetryOverride
from wms.domain.retry_rules import (
    MAX_DELAY,
    RULES,
    History,
    RetryLimits,
    decide_after_error,
    decide_after_return,
    decide_after_success,
)

LIMITS = RetryLimits(retry=3, backoff=2.0)


def test_each_error_class_has_a_retry_rule() -> None:
    assert set(RULES) == set(ErrorClass)


@pytest.mark.parametrize(
    "error", [error for error, rule in RULES.items() if rule.counts and not rule.retry_is_useless]
)
def test_counted_errors_use_up_the_attempts(error: ErrorClass) -> None:
    history, states = History(ram=100), []
    for _ in range(3):
        verdict = decide_after_error(error, history, LIMITS)
        states.append(verdict.state)
        history = History(verdict.failures, verdict.losses, 100)
    assert states == [JobState.READY, JobState.READY, JobState.FAILED]


def test_backoff_doubles_up_to_an_hour() -> None:
    many = RetryLimits(retry=100, backoff=2.0)
    delays = [
        decide_after_error(ErrorClass.TOOL_FAILED, History(n), many).delay for n in (0, 1, 2, 50)
    ]
    assert delays == [2.0, 4.0, 8.0, MAX_DELAY]


def test_permanent_errors_are_not_retried() -> None:
    for error in (ErrorClass.TOOL_REFUSED, ErrorClass.TOOL_TIMEOUT):
        assert decide_after_error(error, History(), LIMITS).state is JobState.FAILED


@pytest.mark.parametrize("code", [126, 127])
def test_missing_program_is_not_retried(code: int) -> None:
    assert (
        decide_after_error(ErrorClass.TOOL_FAILED, History(), LIMITS, exit_code=code).state
        is JobState.FAILED
    )
    temporary = replace(LIMITS, temporary=[code])
    assert (
        decide_after_error(ErrorClass.TOOL_FAILED, History(), temporary, exit_code=code).state
        is JobState.READY
    )
    assert (
        decide_after_error(ErrorClass.TOOL_FAILED, History(), LIMITS, exit_code=1).state
        is JobState.READY
    )
    assert (
        decide_after_error(ErrorClass.NO_SPACE, History(), LIMITS, exit_code=code).state
        is JobState.READY
    )


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (ErrorClass.TOOL_TIMEOUT, None, "tool_timeout"),
        (ErrorClass.TOOL_FAILED, 127, "no_program"),
        (ErrorClass.OUT_OF_MEMORY, 137, "out_of_memory"),
    ],
)
def test_template_may_retry_a_permanent_error(
    error: ErrorClass, code: int | None, word: RetryOverride
) -> None:
    few = replace(LIMITS, largest_ram=300)
    assert decide_after_error(error, History(ram=256), few, exit_code=code).state is JobState.FAILED
    retry_rules, history, states = replace(few, also=[word]), History(ram=256), []
    for _ in range(3):
        verdict = decide_after_error(error, history, retry_rules, exit_code=code)
        assert verdict.ram is None
        states.append(verdict.state)
        history = History(verdict.failures, ram=256)
    assert states == [JobState.READY, JobState.READY, JobState.FAILED]


def test_out_of_memory_is_retried_only_if_a_node_has_more_memory() -> None:
    enough, few = replace(LIMITS, largest_ram=384), replace(LIMITS, largest_ram=383)
    verdict = decide_after_error(ErrorClass.OUT_OF_MEMORY, History(ram=256), enough)
    assert (verdict.state, verdict.ram, verdict.note) == (JobState.READY, 384, "")
    verdict = decide_after_error(ErrorClass.OUT_OF_MEMORY, History(ram=256), few)
    assert (verdict.state, verdict.ram) == (JobState.FAILED, None)
    assert verdict.note == (
        "not tried again: no node has the 384 MiB of memory that another attempt would request"
        " (the largest node has 383 MiB)"
    )
    last = decide_after_error(ErrorClass.OUT_OF_MEMORY, History(failures=2, ram=256), enough)
    assert (last.state, last.note) == (JobState.FAILED, "")


def test_lost_pilots_do_not_count_and_the_fifth_in_a_row_quarantines_the_job() -> None:
    history = History(failures=2)
    for lost in range(1, 5):
        verdict = decide_after_error(ErrorClass.PILOT_LOST, history, LIMITS)
        assert (verdict.state, verdict.failures, verdict.losses, verdict.delay) == (
            JobState.READY,
            2,
            lost,
            0.0,
        )
        history = History(verdict.failures, verdict.losses)
    assert decide_after_error(ErrorClass.PILOT_LOST, history, LIMITS).state is JobState.QUARANTINED


def test_full_disk_never_fails_a_job() -> None:
    """A job waits for free disk space, however long that takes."""
    history = History(failures=2, losses=1)
    for _ in range(1000):
        verdict = decide_after_error(ErrorClass.NO_SPACE, history, LIMITS)
        assert (verdict.state, verdict.failures) == (JobState.READY, 2)
        assert verdict.delay > 0
        history = History(verdict.failures, verdict.losses)


def test_any_end_of_an_attempt_but_a_lost_pilot_resets_the_losses() -> None:
    assert decide_after_error(ErrorClass.TOOL_FAILED, History(losses=4), LIMITS).losses == 0
    assert decide_after_success(History(losses=4)).losses == 0
    assert decide_after_return(History(losses=4)).losses == 4


def test_memory_request_grows_only_after_out_of_memory() -> None:
    assert decide_after_error(ErrorClass.OUT_OF_MEMORY, History(ram=256), LIMITS).ram == 384
    assert decide_after_error(ErrorClass.TOOL_FAILED, History(ram=256), LIMITS).ram is None
