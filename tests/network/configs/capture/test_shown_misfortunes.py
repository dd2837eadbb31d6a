"""What goes wrong with one text or one organization keeps no other version from its hash and size."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from netautod.core.clock import Clock, SystemClock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.network.configs.capture import shown_forms
from netautod.network.configs.capture.shown_forms import ShownForms
from netautod.network.configs.texts.packing import packed, unpacked
from netautod.network.configs.texts.store import TextKeys
from netautod.network.configs.workers.pool import TextWorker, Turn
from netautod.secrets.vault.errors import VaultError
from netautod.testing import ios_config
from tests.network.configs.capture.test_shown_forms import NOTHING, as_before, reader, told
from tests.network.configs.fleet import Fleet
from tests.network.configs.test_configs import configs
from tests.support.clock import MovableClock

TOO_SLOW = "c4nary-that-takes-minutes"


class Worker:
    """A text worker that takes too long for the text with a certain word, alone or among others."""

    def __init__(self, worker: TextWorker) -> None:
        self._worker = worker
        self.measured = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator["Worker"]:
        async with self._worker.turn() as self._turn:
            yield self

    _turn: Turn

    async def ask(self, work: str, **arguments: Any) -> Any:
        self.measured += work == "measure"
        if any(TOO_SLOW in unpacked(data) for data in arguments["packed"]):
            raise Unavailable("took longer than 20 s")
        return await self._turn.ask(work, **arguments)


def forms_of(fleet: Fleet, *, worker: Worker | None = None, clock: Clock | None = None) -> ShownForms:
    """Those of another node."""
    searching = fleet.configs.workers.searching
    return ShownForms(
        store=fleet.installation.stores.configs,
        texts=fleet.configs.texts,
        measuring=searching if worker is None else cast(TextWorker, worker),
        clock=clock or SystemClock(),
    )


async def test_a_text_that_takes_too_long_is_unknown_and_the_others_are_told_of(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("a-c4nary", TOO_SLOW, "b-c4nary"))
    await as_before(fleet)
    forms = forms_of(fleet, worker=Worker(fleet.configs.workers.searching))
    assert await forms.renew() == 3
    found = await told(reader(fleet), device_id)
    assert [one == NOTHING for one in found] == [False, True, False]
    assert await forms.renew() == 0


async def test_a_worker_that_does_not_start_makes_no_text_unknown(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    device_id = await fleet.stored("sw1", *configs("c4nary"))
    await as_before(fleet)
    worker = Worker(fleet.configs.workers.searching)

    @asynccontextmanager
    async def turn() -> AsyncIterator[Worker]:
        raise Unavailable("The worker process for texts does not start")
        yield worker

    monkeypatch.setattr(worker, "turn", turn)
    with pytest.raises(Unavailable):
        await forms_of(fleet, worker=worker).renew()
    assert await fleet.configs.shown_forms.renew() == 1
    assert NOTHING not in await told(reader(fleet), device_id)


async def test_an_organization_whose_key_does_not_open_keeps_no_other_from_being_told(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    device_id = await fleet.stored("sw1", *configs("a-c4nary", "b-c4nary"))
    await as_before(fleet)
    table, torn = fleet.database.collection("configs"), OrgId("0-torn")
    for row in await fleet.rows("configs"):
        await table.insert({**row, "_id": f"torn-{row['_id']}", "org_id": torn})
    keys_of = fleet.configs.texts.keys

    async def keys(org_id: OrgId) -> TextKeys:
        if org_id == torn:
            raise VaultError("the key of the organization does not open")
        return await keys_of(org_id)

    with monkeypatch.context() as patched:
        patched.setattr(fleet.configs.texts, "keys", keys)
        patched.setattr(shown_forms, "BATCH", 1)
        assert await fleet.configs.shown_forms.renew() == 2
    assert NOTHING not in await told(reader(fleet), device_id)
    rows = await fleet.rows("configs", org_id=torn)
    assert [row.get("shown") for row in rows] == [None, None]  # for when the key opens again


@pytest.mark.parametrize(("room", "requests"), [(1, 3), (9, 1)])
async def test_as_many_texts_are_measured_at_once_as_are_small_when_unpacked(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, room: int, requests: int
) -> None:
    await fleet.stored("sw1", *configs("a", "b", "c"))
    await as_before(fleet)
    text = ios_config("sw1", community="a")
    assert 3 * len(packed(text)) < len(text)
    monkeypatch.setattr(shown_forms, "MOST_BYTES", len(text) * room)
    worker = Worker(fleet.configs.workers.searching)
    assert await forms_of(fleet, worker=worker).renew() == 3
    assert worker.measured == requests


async def test_what_a_node_with_other_rules_stores_after_the_start_is_made_anew_later(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovableClock()
    forms = forms_of(fleet, clock=clock)
    device_id = await fleet.stored("sw1", *configs("c4nary"))
    monkeypatch.setattr(fleet.installation.stores.configs, "rules", "others")
    for passed, renewed in ((1800, 0), (3600, 1)):
        clock.move(passed)
        assert await forms.renew() == renewed
    assert NOTHING not in await told(reader(fleet), device_id)
