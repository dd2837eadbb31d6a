"""The outcome of a visit, as the history shows it: state, method, counts and error. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from netautod.network.discovery.polling.models import COMPLETED, FAILED, PARTIAL, State
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import TABLES, Table
from netautod.plugin_api.discovery.collectors import CLI, SNMP

BOTH = "both"
LONGEST_ERROR = 2000
NOTHING = "nothing was read"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    state: State
    method: str | None
    sources: Mapping[Table, str]
    error: str | None
    counts: Mapping[str, int]


def outcome_of(visited: Visited) -> Outcome:
    """Return the outcome: `failed` if no table was read; `partial` if one was not that should have been, or a
    way failed.
    """
    given = visited.collected.given
    error = _error_of(visited)
    return Outcome(
        state=FAILED if not given else PARTIAL if error else COMPLETED,
        method=method_of(visited.sources),
        sources=visited.sources,
        error=error or (None if given else NOTHING),
        counts=_counts(visited),
    )


def failed(error: str) -> Outcome:
    """Return the outcome of a poll that came to no visit, or whose visit was lost."""
    return Outcome(state=FAILED, method=None, sources={}, error=error[:LONGEST_ERROR], counts={})


def method_of(sources: Mapping[Table, str]) -> str | None:
    """Return the transport that gave most tables; at a draw the one of the first of them. `both`: SNMP with
    CLI.
    """
    if not sources:
        return None
    if set(sources.values()) == {SNMP, CLI}:
        return BOTH
    in_order = [sources[table] for table in TABLES if table in sources]
    return Counter(in_order).most_common(1)[0][0]


def _error_of(visited: Visited) -> str | None:
    problems = visited.collected.problems
    sentences = [*visited.failures]
    sentences += [f"{table}: {_without(table, problems[table])}" for table in TABLES if table in problems]
    return "; ".join(sentences)[:LONGEST_ERROR] or None


def _without(table: str, reason: str) -> str:
    """Strip the table's name, which collectors may have put first already."""
    return reason.removeprefix(f"{table}: ")


def _counts(visited: Visited) -> dict[str, int]:
    """Return the rows of each table that was read; the status is no table of rows."""
    rows = {table: getattr(visited.collected, table) for table in TABLES if table != "status"}
    return {table: len(read) for table, read in rows.items() if read is not None}
