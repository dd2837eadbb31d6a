"""Lines that move by themselves make no versions; whatever a person edits makes one."""

from collections.abc import Callable
from dataclasses import replace

from netautod.configs.texts.learned import Rule
from netautod.configs.texts.learned_store import Learned, LearnedNoise
from netautod.ssh.platform.registry import PlatformRegistry
from netautod.testing import SimulatedDevice
from tests.configs.fleet import PASSWORD, Fleet
from tests.devices.inventory import ABSENT_ID
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
    assert await noise.add(fleet.work(), device_id, known, [another]) == known
    assert (await noise.of(fleet.org_id, device_id)) == Learned()


async def test_of_two_that_learn_at_once_the_first_one_counts(fleet: Fleet) -> None:
    device_id = await fleet.entry("sw1", 22)
    noise = LearnedNoise(fleet.database, vault=fleet.installation.vault)
    rules = [Rule(place=(), words=(words, ""), at=0, of=1) for words in ("sent ", "seen ")]
    found = [await noise.add(fleet.work(), device_id, Learned(), [rule]) for rule in rules]
    assert [learned.rules for learned in found] == [(rules[0],), ()]
    assert await noise.of(fleet.org_id, device_id) == found[0]


async def test_what_is_learned_is_sealed_and_redacted(fleet: Fleet) -> None:
    device, _ = box(lambda reading: config(f"radius secret c4nary-pa55 seen {reading}"))
    device_id = await fleet.device(device)
    for _ in range(2):
        await fleet.pulled(device_id)
    (row,) = await fleet.rows("backup_facts")
    assert "seen" not in str(row["learned"])
    (shown,) = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json["learned_noise"]
    assert "c4nary" not in shown
