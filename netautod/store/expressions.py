"""Expressions of update pipelines and aggregations."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from netautod.store.client import Document


def literal(values: Mapping[str, Any]) -> Document:
    """Return values for a pipeline's `$set`: a text that begins with `$` must not become an expression."""
    return {key: {"$literal": value} for key, value in values.items()}


def milliseconds(span: timedelta) -> int:
    """Return a span as it is added to a date."""
    return int(span / timedelta(milliseconds=1))
