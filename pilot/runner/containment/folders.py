"""The folders of a job, as the user of its slot has them while its tool runs."""

from pilot.folders.work_folder import IN, OUT, SYSTEM_TMP, TMP
from pilot.runner.tools.prepared_job import PreparedJob
from pilot.users.slot_user import SlotUser, give, let_pass, let_read


def hand_over(prepared: PreparedJob, user: SlotUser) -> None:
    """Its inputs to read, all else to write to. A process of ours that runs the tools itself keeps
    the folders, and gives each tool its own there. Raises ``OSError``."""
    folder = prepared.job_files.folder
    (give if prepared.in_place else let_read)(f"{folder}/{IN}", user)
    if prepared.own_python:
        let_pass(f"{folder}/{TMP}", user)
        return
    for name in (OUT, TMP, SYSTEM_TMP):
        give(f"{folder}/{name}", user)
