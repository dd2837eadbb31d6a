"""The end of waits that the database's clock has made too long: it was set back while they lasted."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from netautod.store.client import Collection
from netautod.store.expressions import milliseconds

ALL: Mapping[str, Any] = MappingProxyType({})


async def wait_no_longer(
    collection: Collection, field: str, longest: timedelta, where: Mapping[str, Any] = ALL
) -> None:
    """Let no document wait for a time that is later than `longest` from now on; what waits for none stays."""
    latest = {"$add": ["$$NOW", milliseconds(longest)]}
    too_late = {"$expr": {"$gt": [f"${field}", latest]}}
    await collection.update_many({**where, **too_late}, [{"$set": {field: latest}}])
