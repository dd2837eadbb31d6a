"""The device types of an import that no platform has: they work through `generic`, and may be misspelt."""

from difflib import get_close_matches
from typing import Protocol

from netautod.network.inventory.imports.models import RowWarning

MOST_TYPES = 100


class KnownTypes(Protocol):
    """The platforms, by the names that devices give them."""

    def knows(self, device_type: str) -> bool: ...

    def names(self) -> tuple[str, ...]: ...


class UnknownTypes:
    """The unknown types of the rows that were added, each with its first row and how many have it."""

    def __init__(self, known: KnownTypes) -> None:
        self._known = known
        self._first: dict[str, tuple[int, str]] = {}
        self._rows: dict[str, int] = {}

    def add(self, row: int, name: str, device_type: str) -> None:
        if device_type in self._rows:
            self._rows[device_type] += 1
        elif len(self._rows) < MOST_TYPES and not self._known.knows(device_type):
            self._first[device_type] = (row, name)
            self._rows[device_type] = 1

    def warnings(self) -> list[RowWarning]:
        return [
            RowWarning(row=row, name=name, warning=self._sentence(device_type))
            for device_type, (row, name) in self._first.items()
        ]

    def _sentence(self, device_type: str) -> str:
        count = self._rows[device_type]
        close = get_close_matches(device_type, self._known.names(), n=1)
        advice = f"; did you mean {close[0]}?" if close else ""
        rows = "this row is" if count == 1 else f"{count} rows are"
        return f"device_type: no platform is called {device_type}: {rows} handled as generic{advice}"
