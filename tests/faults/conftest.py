"""The stands of the fault tests, and scenarios that wait for minutes at the same time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from tests.faults.nodes import Stand, open_stand
from tests.support.programs.replica_set import ReplicaSet, replica_set

Scenario = Callable[[Stand], Awaitable[None]]


class Together:
    """Scenarios of one module, all started by the first test that waits for one of them."""

    def __init__(self, uri: str, folder: Path) -> None:
        self._uri = uri
        self._folder = folder
        self._tasks: dict[Scenario, asyncio.Task[None]] = {}

    async def result(self, scenario: Scenario, among: Sequence[Scenario]) -> None:
        """Waits for the scenario; raises what it raised."""
        for one in among:
            if one not in self._tasks:
                self._tasks[one] = asyncio.create_task(self._run(one), name=getattr(one, "__name__", None))
        await self._tasks[scenario]

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _run(self, scenario: Scenario) -> None:
        async with open_stand(self._uri, self._folder) as stand:
            await scenario(stand)


@pytest.fixture(scope="module")
async def together(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Together]:
    made = Together(mongo_uri, tmp_path_factory.mktemp("nodes"))
    yield made
    await made.close()


@pytest.fixture
async def stand(mongo_uri: str, tmp_path: Path) -> AsyncIterator[Stand]:
    async with open_stand(mongo_uri, tmp_path) as made:
        yield made


@pytest.fixture(scope="module", name="replica_set")
async def running_replica_set(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ReplicaSet]:
    async with replica_set(tmp_path_factory.mktemp("set")) as members:
        yield members
