"""Notices and their texts."""

from uuid import uuid4

from sluice.contracts.chains.attention import Notice, NoticeSeverity


def list_texts(listed_notices: list[Notice]) -> list[str]:
    return [notice.text for notice in listed_notices]


def notice(
    text: str,
    severity: NoticeSeverity = NoticeSeverity.ERROR,
    *,
    task: bool = False,
    happened: bool = False,
) -> Notice:
    uid = uuid4()
    return Notice(
        text=text,
        severity=severity,
        id=f"chain:{uid}" if happened else None,
        task_uid=uid if task else None,
    )
