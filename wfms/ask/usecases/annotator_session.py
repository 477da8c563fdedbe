"""The session of an annotator in a browser."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.human_tasks.annotation import AnnotatorItem
from sluice.contracts.human_tasks.ask import Ask, Show
from wfms.ask.db.assignments import AssignmentContext
from wfms.ask.db.browsers import KnownBrowser
from wfms.ask.usecases.context import AskContext


@dataclass(frozen=True, slots=True)
class AnnotatorSession:
    """A browser that may answer, its question, and the tasks that ask it."""

    browser: KnownBrowser
    ask: Ask
    tasks: tuple[UUID, ...]

    @property
    def wording(self) -> str:
        """Return a digest of the question, which changes when the question changes."""
        return hashlib.sha256(self.ask.model_dump_json().encode()).hexdigest()[:16]

    def assignment_context(self, context: AskContext) -> AssignmentContext:
        """Return where this browser answers."""
        return AssignmentContext(
            self.browser.template,
            self.browser.step,
            self.browser.owner_group,
            self.tasks,
            self.ask.show,
            context.rules.assignment_duration,
            context.rules.one_vote_window,
        )


def to_annotator_item(
    uid: UUID, content: Mapping[str, Any], assignment_context: AssignmentContext
) -> AnnotatorItem:
    """Return an item as the page shows it."""
    image = None
    if assignment_context.show is Show.IMAGE:
        image = f"items/{uid}/image"
    fields = {name: content.get(name) for name in ("text", "mark", "html", "box")}
    return AnnotatorItem(id=uid, title=content.get("title", ""), image=image, **fields)
