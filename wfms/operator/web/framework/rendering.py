"""Filters and functions of the page templates, and the error page."""

import hashlib
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import resources
from typing import Any

from flask import Flask, Response, jsonify, render_template, url_for

from sluice.contracts.chains.chains import INCOMPLETE
from sluice.contracts.common.labels import entry_label, role, short_label
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.numbers import format_count, number_text, size_text
from sluice.contracts.common.problems import Problem, Unauthenticated
from sluice.contracts.data.counts import produced_texts
from sluice.contracts.templates.chain_requirements import required
from sluice.contracts.templates.matching import condition_text, describe_trigger
from sluice.contracts.templates.scatters import value_in_short
from sluice.contracts.templates.templates import RUN_VERSION
from sluice.servicekit.access.provider_sign_in import PROVIDER_PATH
from sluice.servicekit.access.sign_in import SIGN_IN, SIGN_OUT
from sluice.text.visible_text import visible_order
from wfms.operator.http.access import find_requesting_person, may
from wfms.operator.templates.domain.parameters import type_name
from wfms.operator.web.domain import formatting
from wfms.operator.web.domain.browsers import browser_in_short
from wfms.operator.web.domain.plan_drawing import HEIGHT, WIDTH
from wfms.operator.web.domain.progress_bar import (
    describe_shortfall,
    find_job_counts,
    get_shortfall_style,
    get_step_style,
)
from wfms.operator.web.framework.form_tokens import FIELD, create_form_token
from wfms.operator.web.framework.navigation import Navigation

#: Milliseconds between two live updates of an open page.
LIVE_PERIOD = 1500


def prepare_rendering(flask: Flask, navigation: Navigation) -> None:
    """Register filters and globals. All values are escaped: no template marks a value as safe."""
    environment = flask.jinja_env
    environment.trim_blocks = True
    environment.lstrip_blocks = True
    environment.finalize = _in_visible_order
    environment.filters.update(
        ago=lambda moment: formatting.ago_text(moment, datetime.now(UTC)),
        duration=lambda start, end: formatting.duration_text((end or datetime.now(UTC)) - start),
        seconds=lambda number: formatting.duration_text(timedelta(seconds=number)),
        size=size_text,
        number=number_text,
        count=partial(format_count, grouped=True),
        needs=formatting.needs_text,
        memory=formatting.memory_text,
        job_counts=find_job_counts,
        shortfall_text=describe_shortfall,
        shortfall_style=get_shortfall_style,
        step_style=get_step_style,
        condition=condition_text,
        trigger=describe_trigger,
        required=required,
        produced=produced_texts,
        own=own_name,
        browser=browser_in_short,
        label=short_label,
        in_short=value_in_short,
        role=role,
        entry_label=lambda entry, chain: entry_label(chain, entry),
        cwl_type=type_name,
        words=lambda name: str(name).replace("_", " "),
        utc=lambda moment: moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
    )
    version = _version_of_static_files()
    environment.globals.update(
        csrf_token=create_form_token,
        csrf_field=FIELD,
        static=lambda name: url_for("pages.static", filename=name, v=version),
        live_period=LIVE_PERIOD,
        box_width=WIDTH,
        box_height=HEIGHT,
        run_version=RUN_VERSION,
        incomplete=INCOMPLETE,
        navigation=navigation.list_visible,
        person=find_requesting_person,
        may=may,
        sign_in=SIGN_IN,
        sign_out=SIGN_OUT,
        provider_sign_in=PROVIDER_PATH,
    )


def _in_visible_order(value: Any) -> Any:
    """Show characters that change the direction of text as numbers.

    A command thereby reads as it runs. Markup is left alone: macros have already done this for it.
    """
    return visible_order(value) if type(value) is str else value


def _version_of_static_files() -> str:
    digest = hashlib.sha256()
    for file in sorted(
        resources.files("wfms.operator.web.pages").joinpath("static").iterdir(),
        key=lambda file: file.name,
    ):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def error_page(problem: Problem) -> str:
    """Render the page that shows a problem, or the sign-in page if the person is not signed in."""
    page = "sign_in.html" if problem.status == Unauthenticated.status else "error.html"
    return render_template(page, problem=problem)


def live(parts: dict[str, str], *, again: bool, **context: object) -> Response:
    """Return the current content of parts of a page.

    Args:
        parts: Id of the element → template of its content.
        again: Whether the page asks once more.
        **context: Variables of the templates.
    """
    rendered = {part: render_template(template, **context) for part, template in parts.items()}
    return jsonify({"parts": rendered, "again": again})
