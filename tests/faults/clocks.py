"""Clocks of other processes that a test sets while they run, by libfaketime."""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from netautod.assembly.data.stores import INDEXES
from netautod.store.connection import connect
from netautod.store.embedded.mongod import EmbeddedMongo
from netautod.store.embedded.program import find_mongod
from netautod.store.indexes import create_indexes
from tests.support.databases import PATIENT_SECONDS
from tests.support.programs.service import run


def can_fake_clocks() -> bool:
    return shutil.which("faketime") is not None


@dataclass(frozen=True, kw_only=True)
class SettableClock:
    """The clock of all processes that have its `environment`; their monotonic clocks stay true."""

    file: Path
    library: str

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "LD_PRELOAD": self.library,
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            # It is read once a second: read at each look at the clock it makes a database crawl.
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, ahead: float) -> None:
        """Set it so many seconds ahead of the true time."""
        written = self.file.with_suffix(".new")
        written.write_text(f"{ahead:+.3f}")
        written.replace(self.file)  # it is read at any time

    def show(self, moment: datetime) -> None:
        self.set((moment - datetime.now(UTC)).total_seconds())

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(self.file.read_text()))


async def settable_clock(file: Path) -> SettableClock:
    """A clock that shows the true time so far, by the library for programs with threads."""
    output = (await run("-m", "-f", "+0s", "env", command=("faketime",))).out
    preload = next(line for line in output.splitlines() if line.startswith("LD_PRELOAD="))
    clock = SettableClock(file=file, library=preload.removeprefix("LD_PRELOAD="))
    clock.set(0)
    return clock


@asynccontextmanager
async def mongod_with_a_clock(folder: Path, name: str) -> AsyncIterator[tuple[EmbeddedMongo, SettableClock]]:
    """A database that has its indexes: with a clock of its own a mongod takes half a second for each."""
    async with EmbeddedMongo(folder / "data") as mongo:
        database = connect(mongo.uri, name, timeout_seconds=PATIENT_SECONDS)
        await create_indexes(database, INDEXES)
        database.close()
    clock = await settable_clock(folder / "database clock")
    program = folder / "mongod"
    variables = " ".join(f"'{name}={value}'" for name, value in clock.environment.items())
    program.write_text(f'#!/bin/sh\nexec env {variables} {find_mongod()} "$@"\n')
    program.chmod(0o700)
    async with EmbeddedMongo(folder / "data", mongod=program, stop_seconds=1.0) as mongo:
        yield mongo, clock
