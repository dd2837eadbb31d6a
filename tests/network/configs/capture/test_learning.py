"""Lines that move by themselves make no versions; whatever a person edits makes one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from netautod.network.configs.texts.learned_noise import Rule
from netautod.network.configs.texts.learned_noise_store import Learned, LearnedNoise
from netautod.network.configs.texts.normalise import secret_token
from netautod.testing import SimulatedDevice, ios_config
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error
from tests.support.platform_fixtures import load


class Spoken(dict[str, str]):
    """Outputs of a device that says something else with each reading of its configuration."""

    def __init__(self, text: Callable[[int], str]) -> None:
        super().__init__({"show running-config": ""})
        self.text = text
        self.readings = 0

    def __getitem__(self, command: str) -> str:
        self.readings += 1
        return self.text(self.readings)

    def get(self, command: str, default: str | None = None) -> str | None:  # type: ignore[override]  # narrower
        wanted = command == "show running-config"
        return self[command] if wanted else default


def box(text: Callable[[int], str]) -> tuple[SimulatedDevice, Spoken]:
    """A device without a definition of its own."""
    device = load("generic").device(PlatformRegistry().get("generic"), password=PASSWORD)
    device.responses = said = Spoken(text)
    return device, said


def config(*lines: str, users: str = "users") -> str:
    return "\n".join(("hostname box-1", "vlan 10", f" name {users}", *lines, "vlan 20", " name voice", ""))


async def test_a_counter_makes_no_version_and_can_be_seen_and_forgotten(fleet: Fleet) -> None:
    device, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    assert [(await fleet.pulled(device_id))["version"] for _ in range(4)] == [1, 1, 1, 1]
    assert said.readings == 1 + 2 + 1 + 1  # twice where it is learned, and never again
    latest = f"/api/config/devices/{device_id}/configs/latest"
    assert (await fleet.api.get(latest)).json["learned_noise"] == ["frames seen *"]
    forget = f"/api/devices/{device_id}/learned-noise"
    assert_error(await fleet.with_permissions("devices.access").delete(forget), 403)
    assert_error(await fleet.api.delete(f"/api/devices/{ABSENT_ID}/learned-noise"), 404)
    assert (await fleet.api.delete(forget)).status == 204
    assert (await fleet.api.get(latest)).json["learned_noise"] == []
    assert len(await fleet.audited("config.forget_noise")) == 1


async def test_an_edit_beside_a_counter_is_a_version_that_shows_the_edit_alone(fleet: Fleet) -> None:
    device, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    await fleet.pulled(device_id)
    said.text = lambda reading: config(f"frames seen {reading}", users="staff")
    assert (await fleet.pulled(device_id))["version"] == 2
    found = (await fleet.api.get(f"/api/config/devices/{device_id}/diff")).json
    assert (found["additions"], found["deletions"], found["identical"]) == (1, 1, False)
    assert "staff" in found["diff"]


async def test_edits_of_a_number_day_after_day_are_versions(fleet: Fleet) -> None:
    device, said = box(lambda reading: "")
    device_id = await fleet.device(device)
    versions = []
    for day in range(1, 6):
        said.text = lambda reading, day=day: config(f"vlan 30{day}")  # type: ignore[misc]  # bound at once
        versions.append((await fleet.pulled(device_id))["version"])
    assert versions == [1, 2, 3, 4, 5]
    latest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
    assert latest["learned_noise"] == []


async def test_a_line_that_only_one_reading_has_is_no_change(fleet: Fleet) -> None:
    """As a message of the device has that looks like no log line."""
    device, said = box(lambda reading: config(*(["port 3 went down"] if reading == 2 else [])))
    device_id = await fleet.device(device)
    assert [(await fleet.pulled(device_id))["version"] for _ in range(3)] == [1, 1, 1]
    assert said.readings == 4


def counters(number: int, reading: int) -> str:
    return "\n".join(f"seq {line} hits {reading}" for line in range(number))


# What a line says in the readings of each capture (the last one again if more are asked for), and the
# newest version after each.
CAPTURES = [
    pytest.param([["vlan 10"], ["vlan 20"]], [1, 2], id="an edit between two captures"),
    pytest.param(
        [["mtu 10\nhits 1"], ["mtu 10\nhits 2", "mtu 20\nhits 3"], ["mtu 20\nhits 4"]],
        [1, 1, 2],
        id="an edit between the two readings of a capture",
    ),
    pytest.param(
        [["vlan 10"], ["vlan 20", "vlan 30"], ["vlan 30"], ["vlan 40"]],
        [1, 1, 2, 3],
        id="an edit before a capture and another one between its readings",
    ),
    pytest.param(
        [["vlan 10"], ["vlan 20", "vlan 30"], ["vlan 10"], ["vlan 30"]],
        [1, 1, 1, 2],
        id="the same, taken back and done again",
    ),
    pytest.param(
        [["hits 1"], ["hits 2", "hits 3"], ["hits 3", "hits 4"], ["hits 4"], ["hits 4"]],
        [1, 1, 1, 1, 1],
        id="a counter that moves slowly, and then no more",
    ),
    pytest.param(
        [["hits 1", ""], ["hits 2", "hits 3"], ["hits 4", ""], ["vlan 30"]],
        [1, 1, 1, 2],
        id="a counter that is taken away",
    ),
    pytest.param(
        [["a\nhits 1\nb"], ["a\nhits 2\nb", "a\nhits 3\nb"], ["b\na\nhits 4"]],
        [1, 1, 2],
        id="a line that moved",
    ),
    pytest.param(
        [["ntp 10.0.0.1\nntp 5"], ["ntp 10.0.0.1\nntp 6", "ntp 10.0.0.1\nntp 7"], ["ntp 10.0.0.2\nntp 8"]],
        [1, 1, 2],
        id="an edit of a neighbour with the same words",
    ),
    pytest.param(
        [["s 1\n  hits 1"], ["s 2\n  hits 2", "s 3\n  hits 3"], ["s 4\n  hits 4"]],
        [1, 1, 1],
        id="a counter under a counter",
    ),
    pytest.param(
        [[counters(20, 1)], [counters(20, 2), counters(20, 3)], [counters(20, 4)]], [1, 1, 1], id="20 lines"
    ),
    pytest.param([[counters(21, 1)], [counters(21, 2), counters(21, 3)]], [1, 2], id="21 lines"),
]


@pytest.mark.parametrize(("captures", "versions"), CAPTURES)
async def test_what_makes_a_version(fleet: Fleet, captures: list[list[str]], versions: list[int]) -> None:
    device, said = box(lambda reading: "")
    device_id = await fleet.device(device)
    found = []
    for readings in captures:
        begun = said.readings
        said.text = lambda reading, readings=readings, begun=begun: config(  # type: ignore[misc]  # bound at once
            readings[min(reading - begun, len(readings)) - 1]
        )
        found.append((await fleet.pulled(device_id))["version"])
    assert found == versions


async def test_what_is_forgotten_is_learned_again_and_hides_no_edit_meanwhile(fleet: Fleet) -> None:
    device, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    for _ in range(3):
        await fleet.pulled(device_id)
    assert (await fleet.api.delete(f"/api/devices/{device_id}/learned-noise")).status == 204
    said.text = lambda reading: config("frames seen 50")
    assert (await fleet.pulled(device_id))["version"] == 2
    said.text = lambda reading: config(f"frames seen {reading}")
    assert [(await fleet.pulled(device_id))["version"] for _ in range(2)] == [2, 2]
    latest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
    assert latest["learned_noise"] == ["frames seen *"]


async def test_what_was_learned_of_one_platform_hides_no_edit_on_another(fleet: Fleet) -> None:
    device, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    for _ in range(3):
        await fleet.pulled(device_id)
    changed = await fleet.api.put(f"/api/devices/{device_id}", {"device_type": "linux_like"})
    assert changed.status == 200, changed.content
    assert (await fleet.pulled(device_id))["version"] == 1
    said.text = lambda reading: config(f"frames seen {reading}", "vlan 30")
    assert (await fleet.pulled(device_id))["version"] == 2


async def test_another_device_in_its_place_is_a_change(fleet: Fleet) -> None:
    device, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    for _ in range(3):
        await fleet.pulled(device_id)
    said.text = lambda reading: f"hostname box-2\nframes seen {reading}\nvlan 7\n"
    assert (await fleet.pulled(device_id))["version"] == 2


async def test_captures_of_one_device_at_once_learn_once(fleet: Fleet) -> None:
    device, _ = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    await fleet.pulled(device_id)
    path = f"/api/config/devices/{device_id}/pull"
    answers = await asyncio.gather(*(fleet.api.post(path) for _ in range(3)))
    assert {answer.json.get("version", 1) for answer in answers} == {1}, answers
    latest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
    assert (latest["version"], latest["learned_noise"]) == (1, ["frames seen *"])


async def test_a_death_behind_what_was_learned_loses_nothing(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    await fleet.pulled(device_id)
    with monkeypatch.context() as patched:
        patched.setattr(LearnedNoise, "put", put_and_die(LearnedNoise.put))
        assert_error(await fleet.api.post(f"/api/config/devices/{device_id}/pull"), 500)
    latest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
    assert (latest["version"], latest["learned_noise"]) == (1, ["frames seen *"])
    said.text = lambda reading: config(f"frames seen {reading}", users="staff")
    assert (await fleet.pulled(device_id))["version"] == 2


def put_and_die(put: Callable[..., Awaitable[Learned]]) -> Callable[..., Awaitable[Learned]]:
    async def dying(*given: Any) -> Learned:
        await put(*given)
        raise RuntimeError("the process is gone")

    return dying


async def test_many_changed_lines_are_a_change_without_another_reading(fleet: Fleet) -> None:
    device, said = box(lambda reading: config(*(f"seq {number} hits {reading}" for number in range(21))))
    device_id = await fleet.device(device)
    assert [(await fleet.pulled(device_id))["version"] for _ in range(2)] == [1, 2]
    assert said.readings == 2


async def test_what_was_forgotten_meanwhile_does_not_come_back(fleet: Fleet) -> None:
    device, _ = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(device)
    for _ in range(2):
        await fleet.pulled(device_id)
    noise = LearnedNoise(fleet.database, vault=fleet.installation.vault)
    known = await noise.of(fleet.org_id, device_id)
    await noise.forget(fleet.org_id, device_id)
    another = replace(known.rules[0], words=("sent ", ""))
    assert await noise.put(fleet.work(), device_id, known, [another]) == known
    assert (await noise.of(fleet.org_id, device_id)) == Learned()


async def test_of_two_that_learn_at_once_the_first_one_counts(fleet: Fleet) -> None:
    device_id = await fleet.entry("sw1", 22)
    noise = LearnedNoise(fleet.database, vault=fleet.installation.vault)
    rules = [Rule(place=(), words=(words, ""), at=0, of=1) for words in ("sent ", "seen ")]
    found = [await noise.put(fleet.work(), device_id, Learned(), [rule]) for rule in rules]
    assert [learned.rules for learned in found] == [(rules[0],), ()]
    assert await noise.of(fleet.org_id, device_id) == found[0]


async def test_what_is_learned_is_sealed_and_redacted(fleet: Fleet) -> None:
    device, _ = box(lambda reading: config(f"radius secret c4nary-pa55 seen {reading}"))
    device_id = await fleet.device(device)
    for _ in range(2):
        await fleet.pulled(device_id)
    (row,) = await fleet.rows("backup_facts")
    assert "seen" not in str(row["learned"])
    latest = f"/api/config/devices/{device_id}/configs/latest"
    (shown,) = (await fleet.api.get(latest)).json["learned_noise"]
    assert "c4nary" not in shown


async def test_a_token_in_what_is_learned_is_that_of_the_device_and_for_those_who_see_secrets(
    fleet: Fleet,
) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1"))
    token = secret_token("c4nary", (await fleet.configs.texts.keys(fleet.org_id)).secret)
    noise = LearnedNoise(fleet.database, vault=fleet.installation.vault)
    rule = Rule(place=(), words=(f"peer key {token} seen ", ""), at=0, of=1)
    await noise.put(fleet.work(), device_id, Learned(), [rule])
    latest = f"/api/config/devices/{device_id}/configs/latest"
    (shown,) = (await fleet.api.get(latest)).json["learned_noise"]
    assert shown.startswith("peer key <secret:")
    assert token not in shown
    reader = fleet.with_permissions("devices.access")
    assert (await reader.get(latest)).json["learned_noise"] == ["peer key <secret> seen *"]
