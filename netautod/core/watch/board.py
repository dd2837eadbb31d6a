"""Memory shared with the watching process: writing to it is no system call, so nothing can hold it up."""

import json
import mmap
from dataclasses import asdict, dataclass, field, replace
from threading import get_ident, get_native_id

ENTRY = 1024
_TICKS, _READY, _STALLS, _CURRENT, _SETTLED, _NODE, _RELOADS, _MIGRATING, _RESTARTS = range(9)
_HEAD = 64
_NODE_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class MarkedRun:
    """A run as the log names it; `thread` and `ident` are those of a blocking executor's own thread."""

    execution_id: str
    epoch: int
    task: str
    plugin: str
    thread: int = 0
    ident: int = 0


@dataclass(kw_only=True)
class Board:
    """A board in shared memory, made before the fork. Its first half is for the watched process, the second
    for the watcher.

    The entries are numbered from 1; 0 stands for none, or for one that found no place.
    """

    entries: int = 1023
    _free: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEAD + _NODE_BYTES + (self.entries + 1) * ENTRY)
        self._words = memoryview(self._memory)[:_HEAD].cast("I")
        self._free = list(range(self.entries, 0, -1))

    def begin(self, node_id: str) -> None:
        """Record the name under which this process holds leases."""
        encoded = node_id.encode()[:_NODE_BYTES]
        self._memory[_HEAD : _HEAD + len(encoded)] = encoded
        self._words[_NODE] = len(encoded)

    def tick(self) -> None:
        self._words[_TICKS] = self._words[_TICKS] % 0xFFFFFFFF + 1

    def rest(self) -> None:
        """Stop the ticks: from now on none are expected."""
        self._words[_TICKS] = 0

    def serve(self) -> None:
        """Record that the process is ready."""
        self._words[_READY] = 1

    def reloaded(self) -> None:
        """Record that the files of the settings have been read again."""
        self._words[_RELOADS] += 1

    def migrate(self, busy: bool) -> None:
        """Record whether migrations of the data make the start take longer."""
        self._words[_MIGRATING] = int(busy)

    def settle(self) -> None:
        """Record that the runs of an earlier process are settled in the database."""
        self._words[_SETTLED] = 1

    def mark(self, entry: int) -> None:
        """Record the run that this thread works on from now on; 0 is none."""
        self._words[_CURRENT] = entry

    def enter(self, run: MarkedRun) -> int:
        if not self._free:
            return 0
        entry = self._free.pop()
        self._write(entry, run)
        return entry

    def leave(self, entry: int) -> None:
        if entry:
            self._write(entry, None)
            self._free.insert(0, entry)

    def note_thread(self, entry: int, run: MarkedRun) -> None:
        """Record that the calling thread works for the run."""
        if entry:
            self._write(entry, replace(run, thread=get_native_id(), ident=get_ident()))

    def clear(self) -> None:
        """Clear the board before another process starts; the counts of stalls and of restarts stay."""
        stalls, restarts = self.stalls, self.restarts
        self._memory[:] = bytes(len(self._memory))
        self._words[_STALLS], self._words[_RESTARTS] = stalls, restarts

    @property
    def stalls(self) -> int:
        return self._words[_STALLS]

    def count_stall(self) -> None:
        self._words[_STALLS] += 1

    @property
    def restarts(self) -> int:
        """Return how often a process was started because the one before it had ended."""
        return self._words[_RESTARTS]

    def count_restarts(self, times: int) -> None:
        self._words[_RESTARTS] += times

    @property
    def ticks(self) -> int:
        """Return the number of ticks; 0 before the first one and after the last."""
        return self._words[_TICKS]

    @property
    def ready(self) -> bool:
        return self._words[_READY] == 1

    @property
    def reloads(self) -> int:
        return self._words[_RELOADS]

    @property
    def migrating(self) -> bool:
        return self._words[_MIGRATING] == 1

    @property
    def settled(self) -> bool:
        return self._words[_SETTLED] == 1

    @property
    def node_id(self) -> str:
        return self._memory[_HEAD : _HEAD + self._words[_NODE]].decode()

    def current(self) -> MarkedRun | None:
        """Return the run whose code runs on the event loop."""
        entry = self._words[_CURRENT]
        return self._read(entry) if 0 < entry <= self.entries else None

    def threads(self) -> list[MarkedRun]:
        """Return the runs that have a thread of their own."""
        runs = (self._read(entry) for entry in range(1, self.entries + 1))
        return [run for run in runs if run is not None and run.thread]

    def _write(self, entry: int, run: MarkedRun | None) -> None:
        text = b"" if run is None else _encoded(run)
        start = _HEAD + _NODE_BYTES + entry * ENTRY
        self._memory[start : start + ENTRY] = text.ljust(ENTRY, b"\0")

    def _read(self, entry: int) -> MarkedRun | None:
        start = _HEAD + _NODE_BYTES + entry * ENTRY
        text = self._memory[start : start + ENTRY].rstrip(b"\0")
        try:
            return MarkedRun(**json.loads(text)) if text else None
        except ValueError:  # half of it is written: the process was stopped in between
            return None


def _encoded(run: MarkedRun) -> bytes:
    """Return a run as JSON that fits; long names are cut."""
    text = json.dumps(asdict(run)).encode()
    if len(text) <= ENTRY:
        return text
    return json.dumps(asdict(replace(run, task=run.task[:40], plugin=run.plugin[:40]))).encode()
