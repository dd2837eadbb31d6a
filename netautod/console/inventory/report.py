"""The result of an import as a page shows it: counts, the first rows that fail, all of them as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from netautod.core.loop.pace import Pace
from netautod.core.text.csv_rows import csv_line
from netautod.network.inventory.imports.models import ImportResult, RowError, RowWarning

SHOWN = 50
MOST_CHARACTERS = 512 * 1024


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """The report of an import.

    `shown` holds the first rows that fail. `rest` holds all of them as CSV if there are more, else it is
    empty; `left_out` counts those that would be too much for a page.
    """

    dry_run: bool
    imported: int
    failed: int
    shown: Sequence[RowError]
    warnings: Sequence[RowWarning]
    rest: str = field(repr=False)
    left_out: int


async def report_of(result: ImportResult, *, dry_run: bool) -> ImportReport:
    few = len(result.errors) <= SHOWN
    rest, listed = ("", len(result.errors)) if few else await _as_csv(result.errors)
    return ImportReport(
        dry_run=dry_run,
        imported=result.imported,
        failed=result.failed,
        shown=result.errors[:SHOWN],
        warnings=result.warnings,
        rest=rest,
        left_out=len(result.errors) - listed,
    )


async def _as_csv(errors: Sequence[RowError]) -> tuple[str, int]:
    """Return the errors as CSV, and how many of them it holds."""
    pace, lines = Pace(), [csv_line(("row", "name", "error"))]
    written = 0
    for listed, error in enumerate(errors):
        if written > MOST_CHARACTERS:
            return _text(lines), listed
        lines.append(csv_line((error.row, error.name, error.error)))
        written += len(lines[-1])
        await pace.breathe()
    return _text(lines), len(errors)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
