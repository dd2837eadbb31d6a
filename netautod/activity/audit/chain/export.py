"""Exports of chains: one line for each event, with its number and hashes, which can be verified alone."""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any

from netautod.activity.audit.chain.checking import ChainCheck
from netautod.activity.audit.chain.links import Link
from netautod.activity.audit.chain.store import ChainStore
from netautod.core.identity.caller import OrgId


async def exported(
    store: ChainStore, org_id: OrgId, *, since: datetime | None, until: datetime | None
) -> AsyncIterator[dict[str, Any]]:
    """Yield the first event of that time to the last, without a gap; `until` is not included.

    A line of an event that cannot be read any more holds its number alone.
    """
    first, last = await store.span(org_id, since, until)
    async for found in store.stream(org_id, after=first - 1, through=last):
        yield {"org_id": org_id, "seq": found, "unreadable": True} if isinstance(found, int) else found.line()


def check_lines(lines: Iterable[str]) -> dict[str, ChainCheck]:
    """Check an export; return the check of each chain by the id of its organization.

    A check begins with the first line of its chain.
    """
    checks: dict[str, ChainCheck] = {}
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        line = _line(text)
        if line is None:
            checks.setdefault("?", ChainCheck(last=Link(seq=0, hash=""))).add(f"line {number} is no event")
            continue
        start = Link(seq=line["seq"] - 1, hash=line["prev"])
        check = checks.setdefault(line["org_id"], ChainCheck(last=start))
        check.take(line)
    return checks


def _line(text: str) -> Mapping[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    if not isinstance(line, dict) or type(line.get("seq")) is not int:
        return None
    texts = all(isinstance(line.get(name), str) for name in ("org_id", "prev", "hash", "action"))
    return line if texts else None
