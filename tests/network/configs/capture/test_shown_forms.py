"""Hash and size as readers without secrets see a version: stored with it, and made in the background."""

import hashlib
import hmac
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.network.configs.capture.shown_forms import ShownForms
from netautod.network.configs.events.outbox import _version_events
from netautod.network.configs.texts.normalise import normalise
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.testing import ios_config
from netautod.transport.ssh.encoding import to_bytes
from netautod.transport.ssh.platform.redaction_rules import redaction_rules
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.network.configs.fleet import Fleet
from tests.network.configs.test_configs import configs, path
from tests.support.client import ApiClient

NOTHING = (None, None)


def reader(fleet: Fleet) -> ApiClient:
    return fleet.with_permissions("devices.access")


async def told(client: ApiClient, device_id: str, rest: str = "configs") -> list[tuple[Any, Any]]:
    """Hash and size of each version, the newest first."""
    found = (await client.get(path(device_id, rest))).expect()
    return [(item["config_hash"], item["size"]) for item in found.get("configs", [found])]


async def as_before(fleet: Fleet, **fields: Any) -> None:
    """As an earlier release, or a node of it beside this one, has stored all versions."""
    change = {"$unset": {"shown": "", "shown_parts": ""}, **({"$set": fields} if fields else {})}
    await fleet.database.collection("configs").update_many({}, change)


async def test_readers_are_told_of_the_text_as_they_see_it(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("c4nary", "c4nary-that-is-longer"))
    client = reader(fleet)
    [newer, older] = await told(client, device_id)
    text = (await client.get(path(device_id, "configs/1"))).json["config_text"]
    assert older[1] == len(text.encode())
    assert {await told(client, device_id, f"configs/{rest}") == [newer] for rest in ("latest", "2")} == {True}
    [raw_newer, raw_older] = await told(fleet.api, device_id)
    assert raw_newer[1] - raw_older[1] > len("-that-is-longer") - 5
    assert not {raw_newer, raw_older} & {newer, older}


async def test_versions_of_before_are_told_of_once_they_were_looked_at(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("a-c4nary", "b-c4nary"))
    client = reader(fleet)
    known = await told(client, device_id)
    await as_before(fleet)
    assert await told(client, device_id) == [NOTHING] * 2
    assert NOTHING not in await told(fleet.api, device_id)
    assert await fleet.configs.shown_forms.renew() == 2
    assert await told(client, device_id) == known
    assert await fleet.configs.shown_forms.renew() == 0


async def test_a_lost_and_a_damaged_text_keep_no_other_version_from_being_told_of(fleet: Fleet) -> None:
    ids = [await fleet.stored(name, *configs("c4nary", name=name)) for name in ("lost", "torn", "good")]
    await as_before(fleet)
    text_of = {row["device_id"]: row["text_id"] for row in await fleet.rows("configs")}
    texts = fleet.database.collection("config_texts")
    await texts.delete({"_id": text_of[ids[0]]})
    await texts.update({"_id": text_of[ids[1]]}, {"$set": {"text.data": b"torn"}})
    assert await fleet.configs.shown_forms.renew() == 3
    found = [await told(reader(fleet), device_id) for device_id in ids]
    assert found[:2] == [[NOTHING]] * 2
    assert NOTHING not in found[2]
    assert await fleet.configs.shown_forms.renew() == 0


async def test_a_pass_that_was_interrupted_is_gone_on_with(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    device_id = await fleet.stored("sw1", *configs("a", "b", "c"))
    await as_before(fleet)
    store, done = fleet.installation.stores.configs, list[Any]()
    set_shown = store.set_shown

    async def dies(*given: Any, **named: Any) -> None:
        if done:
            raise Unavailable("gone")
        done.append(given)
        await set_shown(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(store, "set_shown", dies)
        with pytest.raises(Unavailable):
            await fleet.configs.shown_forms.renew()
    assert (await told(reader(fleet), device_id)).count(NOTHING) == 2
    assert await fleet.configs.shown_forms.renew() == 2
    assert NOTHING not in await told(reader(fleet), device_id)


async def test_new_rules_take_back_what_was_told_by_the_old_ones(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    device_id = await fleet.stored("sw1", *configs("a-c4nary"))
    store, client = fleet.installation.stores.configs, reader(fleet)
    monkeypatch.setattr(store, "rules", "others")
    assert await told(client, device_id) == [NOTHING]
    # Made since this node was started, by one with other rules: that one is not fought.
    assert await fleet.configs.shown_forms.renew() == 0
    later = ShownForms(
        store=store,
        texts=fleet.configs.texts,
        measuring=fleet.configs.workers.searching,
        clock=SystemClock(),
    )
    assert await later.renew() == 1
    assert NOTHING not in await told(client, device_id)
    assert [row["version"] for row in await fleet.rows("configs")] == [1]


async def test_a_capture_of_an_unchanged_device_tells_of_a_version_of_before(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("c4nary"))
    known = await told(reader(fleet), device_id)
    await as_before(fleet)
    taken = await fleet.acting().capture_config(device_id)
    assert (taken.changed, taken.config_hash) == (False, known[0][0])
    assert await told(reader(fleet), device_id) == known


def hash_of_before(raw: str, keys: Any) -> str:
    """The hash of an earlier release, whose tokens were those of the organization."""
    normal = normalise(raw, PlatformRegistry().get("cisco_ios"), keys.secret)
    return hmac.new(keys.normalised, to_bytes(normal), hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    "noise", ["06:44:12 UTC Sat Nov 21 2026 by admin", "09:00:00 UTC Sun Nov 22 2026 by ann"]
)
async def test_another_key_of_the_tokens_makes_no_version(fleet: Fleet, noise: str) -> None:
    """Nor does a node of the release before, which stores its hash again and again."""
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    first = await fleet.take(device_id)
    old = hash_of_before(
        await fleet.configs.texts.load(fleet.org_id, first.config.text_id),
        await fleet.configs.texts.keys(fleet.org_id),
    )
    assert old != first.config.config_hash
    seen = first.config.last_seen_at
    switch.config = ios_config("sw1", changed_at=noise)
    for _ in range(2):
        await as_before(fleet, config_hash=old)
        again = await fleet.take(device_id)
        assert (again.changed, again.config.version) == (False, 1)
        assert again.config.last_seen_at > seen
        seen = again.config.last_seen_at
    assert len(await fleet.rows("configs")) == 1


async def test_what_every_release_reads_of_a_version_is_there(fleet: Fleet) -> None:
    await fleet.stored("sw1", *configs("c4nary"))
    [row] = await fleet.rows("configs")
    assert set(row["shown"]) == {"config_hash", "size", "rules", "at"}
    assert {"config_hash", "size", "text_id", "platform", "version"} <= set(row)


def test_the_rules_are_named_by_what_they_hide() -> None:
    registry = PlatformRegistry()
    named = redaction_rules(registry.for_readers)
    assert named == ShownTexts(PlatformRegistry().for_readers).rules
    assert redaction_rules(registry.get("cisco_ios")) != named
    assert len(named) == 16


async def test_the_stores_know_the_rules_in_force(fleet: Fleet) -> None:
    stores = fleet.installation.stores
    named = redaction_rules(PlatformRegistry().for_readers)
    assert stores.configs.rules == stores.execution_results.rules == named


async def test_a_webhook_is_told_null_of_a_version_of_a_node_of_before(fleet: Fleet) -> None:
    await fleet.stored("sw1", *configs("c4nary"))
    store = fleet.installation.stores.configs
    await as_before(fleet)
    for known in (False, True):
        [row] = await fleet.rows("configs")
        owed = {"at": row["created_at"], "device_name": "sw1", "execution_id": None}
        [event] = await _version_events(store, {**row, "owed": owed})
        assert (event.data["config_hash"] is not None) is known
        await fleet.configs.shown_forms.renew()
