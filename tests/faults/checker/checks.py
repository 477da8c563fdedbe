"""All checks, and their findings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.faults.checker import (
    answer_checks,
    catalogue_checks,
    chain_checks,
    job_checks,
    limit_checks,
    message_checks,
    release_checks,
    site_checks,
    storage_checks,
)
from tests.faults.checker.expectation import Expectation
from tests.faults.checker.snapshot import Snapshot
from tests.faults.checker.view import View

Check = Callable[[View], Iterator[str]]

CHECKS: tuple[Check, ...] = (
    message_checks.check_outboxes_empty,
    message_checks.check_queues_empty,
    message_checks.check_dead_letters_empty,
    message_checks.check_intake_done,
    chain_checks.check_all_inputs_processed,
    chain_checks.check_chains_finished,
    chain_checks.check_watches_reported,
    chain_checks.check_released,
    chain_checks.check_uploaded,
    job_checks.check_counts_of_tasks,
    job_checks.check_tasks_finished,
    job_checks.check_jobs_cover_input,
    job_checks.check_failures_expected,
    job_checks.check_one_winner,
    job_checks.check_leases_do_not_overlap,
    job_checks.check_inputs_existed,
    job_checks.check_attempts_without_space_bounded,
    limit_checks.check_limits_respected,
    limit_checks.check_quotas_spent,
    limit_checks.check_no_process_left,
    catalogue_checks.check_outputs_once,
    catalogue_checks.check_logs_once,
    catalogue_checks.check_counts_of_datasets,
    catalogue_checks.check_counts_of_storages,
    catalogue_checks.check_expected_outputs,
    catalogue_checks.check_file_order,
    storage_checks.check_files_intact,
    storage_checks.check_no_dark_files,
    storage_checks.check_readable_datasets_complete,
    storage_checks.check_nothing_deleted_early,
    storage_checks.check_events_complete,
    answer_checks.check_annotations_complete,
    answer_checks.check_items_decided,
    answer_checks.check_annotations_in_files,
    release_checks.check_files_released_after_reading,
    release_checks.check_counts_of_released,
    release_checks.check_releases_done,
    site_checks.check_revoked_sites_do_nothing,
    site_checks.check_sites_worked,
)


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    what: str


def get_check_name(check: Check) -> str:
    return check.__name__.removeprefix("check_").replace("_", " ")


def find_deviations(state: Snapshot, expectation: Expectation) -> list[Finding]:
    """Return all deviations from the expected state; an empty list means that all is well."""
    view = View(state, expectation)
    return [Finding(get_check_name(check), what) for check in CHECKS for what in check(view)]
