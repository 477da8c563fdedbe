"""Structured logs: one JSON object a line on stderr, with the ids of the objects concerned."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog


def configure_logging(service: str, *, level: str = "INFO") -> None:
    """Make structlog and the standard library's logging write the same JSON lines.

    Call this once in a process.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(default=str),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in (
        "httpx",
        "httpcore",
        "uvicorn.access",
        "aio_pika",
        "aiormq",
        "alembic",
        "asyncio",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.contextvars.bind_contextvars(service=service)


@contextmanager
def log_ids(**ids: Any) -> Iterator[None]:
    """Bind ids to every log line that is written in the block.

    The names ``chain``, ``task``, ``job``, ``attempt``, ``dataset``, ``pilot`` and ``message`` are
    the same everywhere, so that one search finds everything about a job.
    """
    bound_ids = {key: str(value) for key, value in ids.items() if value is not None}
    with structlog.contextvars.bound_contextvars(**bound_ids):
        yield
