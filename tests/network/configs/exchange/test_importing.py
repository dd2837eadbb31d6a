"""The histories of Oxidized and RANCID: what becomes a version, what takes no part, and a second import."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import system_caller
from netautod.network.configs.exchange.history import History
from netautod.network.configs.exchange.importing import ConfigImport, Imported
from tests.network.configs.capture.test_learning import box, config
from tests.network.configs.fleet import Fleet

DAY = 86_400
START = 1_600_000_000


def text(line: str) -> bytes:
    return f"hostname sw\n{line}\nend\n".encode()


class Repository:
    """One that a test commits to, a day after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        when = f"{START + self.day * DAY} +0000"
        names = {"GIT_AUTHOR_NAME": "oxidized", "GIT_AUTHOR_EMAIL": "o@x", "GIT_AUTHOR_DATE": when}
        names |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in names.items()}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            capture_output=True,
            check=True,
            text=True,
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.folder), **names},
        )
        return done.stdout

    def commit(self, files: dict[str, bytes | None]) -> None:
        for name, data in files.items():
            path = self.folder / name
            if data is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "update")
        self.day += 1


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


async def imported(fleet: Fleet, repository: Repository, **fields: Any) -> Imported:
    known: dict[str, Any] = {
        "store": fleet.installation.stores.configs,
        "texts": fleet.configs.texts,
        "devices": fleet.parts.devices.devices,
        "platforms": fleet.sessions.platforms,
        "audit": fleet.installation.audit,
        "clock": fleet.installation.clock,
        "most_bytes": 100_000,
    }
    importing = ConfigImport(**{**known, **fields})
    return await importing.run(system_caller(fleet.org_id), History(repository.folder))


async def history(fleet: Fleet, device_id: str) -> list[tuple[int, int, str]]:
    """Number, day and the line that tells the versions apart."""
    found = []
    listed = (await fleet.api.get(f"/api/config/devices/{device_id}/configs")).expect()["configs"]
    for item in reversed(listed):
        version = item["version"]
        read = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/{version}")).expect()
        assert (item["source"], item["pulled_via"]) == ("import", "import")
        (row,) = await fleet.rows("configs", device_id=device_id, version=version)
        day = int(row["created_at"].timestamp() - START) // DAY
        found.append((version, day, read["config_text"].split("\n")[1]))
    return found


async def test_a_history_of_oxidized(fleet: Fleet, repository: Repository) -> None:
    """Groups are folders; a device that moves to another one is the same; a deletion is no version."""
    sw1, sw2 = await fleet.entry("sw1", 22), await fleet.entry("sw2.example.com", 22)
    repository.commit({"core/sw1": text("one"), "core/stranger": text("x")})
    repository.commit({"core/sw1": text("two"), "sw2.example.com": text("a")})
    repository.commit({"core/sw1": None})
    repository.commit({"edge/sw1": text("two")})
    repository.commit({"edge/sw1": text("three")})
    done = await imported(fleet, repository)
    assert (done.versions, len(done.devices)) == (4, 2)
    assert done.problems == {"core/stranger": "no device has this name"}
    assert await history(fleet, sw1) == [(1, 0, "one"), (2, 1, "two"), (3, 4, "three")]
    assert await history(fleet, sw2) == [(1, 1, "a")]
    assert len(await fleet.audited("config.import")) == 1


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"!RANCID-CONTENT-TYPE: cisco\n!\n", id="cisco"),
        pytest.param(b"# RANCID-CONTENT-TYPE: juniper\n#\n", id="juniper"),
        pytest.param(b";RANCID-CONTENT-TYPE: hp\n;\n", id="hp"),
        pytest.param(b"#RANCID-CONTENT-TYPE: mikrotik\r\n#\r\n", id="with carriage returns"),
        pytest.param(b"!RANCID-CONTENT-TYPE: cisco-nx\n", id="no empty comment behind it"),
        pytest.param(b"", id="none"),
    ],
)
async def test_a_history_of_rancid(fleet: Fleet, repository: Repository, head: bytes) -> None:
    device_id = await fleet.entry("router", 22)
    repository.commit({"lab/configs/router": head + text("one"), "lab/router.db": b"router;cisco;up\n"})
    done = await imported(fleet, repository)
    assert (done.versions, done.problems) == (1, {})
    assert await history(fleet, device_id) == [(1, 0, "one")]


async def test_again_adds_what_is_new(fleet: Fleet, repository: Repository) -> None:
    device_id = await fleet.entry("sw1", 22)
    repository.commit({"sw1.cfg": text("one")})
    repository.commit({"sw1.cfg": text("two")})
    assert (await imported(fleet, repository)).versions == 2
    assert (await imported(fleet, repository)).versions == 0
    repository.day -= 1  # in the second of the last one that was taken
    repository.commit({"sw1.cfg": text("three")})
    assert (await imported(fleet, repository)).versions == 1
    assert await history(fleet, device_id) == [(1, 0, "one"), (2, 1, "two"), (3, 1, "three")]


async def test_a_hash_of_an_earlier_release_makes_no_version(fleet: Fleet, repository: Repository) -> None:
    device_id = await fleet.entry("sw1", 22)
    repository.commit({"sw1.cfg": text("one")})
    await imported(fleet, repository)
    of_before = {"$set": {"config_hash": "0" * 64}}
    await fleet.database.collection("configs").update_many({}, of_before)
    noise = "! Last configuration change at 09:00:00 UTC Sun Nov 22 2026 by ann"
    repository.commit({"sw1.cfg": text(f"{noise}\none")})
    assert (await imported(fleet, repository)).versions == 0
    assert await history(fleet, device_id) == [(1, 0, "one")]


async def test_dates_that_run_backwards_keep_the_order_of_the_commits(
    fleet: Fleet, repository: Repository
) -> None:
    device_id = await fleet.entry("sw1", 22)
    repository.day = 5
    repository.commit({"sw1": text("one")})
    repository.day = 2
    repository.commit({"sw1": text("two")})
    await imported(fleet, repository)
    assert await history(fleet, device_id) == [(1, 5, "one"), (2, 5, "two")]
    assert (await imported(fleet, repository)).versions == 0


async def test_a_merge_is_one_change(fleet: Fleet, repository: Repository) -> None:
    device_id = await fleet.entry("sw1", 22)
    repository.commit({"sw1": text("one")})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"sw1": text("side 1")})
    repository.commit({"sw1": text("side 2")})
    repository.git("checkout", "-q", "main")
    repository.commit({"other": text("x")})
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    await imported(fleet, repository)
    assert [line for _, _, line in await history(fleet, device_id)] == ["one", "side 2"]


async def test_a_device_with_versions_of_its_own_takes_no_part(fleet: Fleet, repository: Repository) -> None:
    await fleet.stored("sw1", "hostname sw1\nend\n")
    repository.commit({"sw1": text("one")})
    done = await imported(fleet, repository)
    assert (done.versions, done.problems) == (0, {"sw1": "the device has versions of its own already"})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"\x7fELF\0\0", "is no text", id="a binary file"),
        pytest.param(b"a\n" * 60_000, "is too large", id="a large one"),
    ],
)
async def test_what_is_no_config(fleet: Fleet, repository: Repository, data: bytes, problem: str) -> None:
    await fleet.entry("sw1", 22)
    repository.commit({"sw1": data})
    repository.commit({"sw1": text("one")})
    done = await imported(fleet, repository)
    assert (done.versions, list(done.problems.values())) == (1, [problem])


async def test_bytes_that_are_no_utf_8_are_kept(fleet: Fleet, repository: Repository) -> None:
    device_id = await fleet.entry("sw1", 22)
    data = b"hostname sw1\n! Z\xfcrich\nend\n"
    repository.commit({"sw1": data})
    await imported(fleet, repository)
    raw = await fleet.api.get(f"/api/config/devices/{device_id}/configs/1/raw")
    assert raw.content == data


async def test_what_moves_is_learned_from_an_imported_reading_too(
    fleet: Fleet, repository: Repository
) -> None:
    switch, said = box(lambda reading: config(f"frames seen {reading}"))
    device_id = await fleet.device(switch)
    repository.commit({switch.hostname: config("frames seen 0").encode()})
    await imported(fleet, repository)
    assert [(await fleet.pulled(device_id))["version"] for _ in range(2)] == [1, 1]
    assert said.readings == 2 + 1
    latest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
    assert latest["learned_noise"] == ["frames seen *"]


async def test_two_files_of_one_name(fleet: Fleet, repository: Repository) -> None:
    await fleet.entry("sw1", 22)
    repository.commit({"a/sw1": text("one"), "b/sw1": text("two")})
    done = await imported(fleet, repository)
    assert done.versions == 0
    assert set(done.problems.values()) == {"more than one file is called sw1"}


async def test_no_program_of_the_repository_runs(
    fleet: Fleet, repository: Repository, tmp_path: Path
) -> None:
    await fleet.entry("sw1", 22)
    repository.commit({"sw1": text("one"), ".gitattributes": b"* diff=evil filter=evil\n"})
    trap = f"touch {tmp_path}/ran; cat"
    for key in ("core.fsmonitor", "diff.evil.textconv", "diff.external", "filter.evil.smudge", "core.pager"):
        repository.git("config", key, trap)
    assert (await imported(fleet, repository)).versions == 1
    assert not (tmp_path / "ran").exists()


async def test_what_is_no_repository(fleet: Fleet, tmp_path: Path, repository: Repository) -> None:
    for folder in (tmp_path, tmp_path / "absent", repository.folder):
        repository.folder = folder
        with pytest.raises(InvalidInput):
            await imported(fleet, repository)


async def test_an_import_gives_a_version_and_no_backup(fleet: Fleet, repository: Repository) -> None:
    await fleet.entry("sw1", 22)
    repository.commit({"sw1": text("one")})
    await imported(fleet, repository)
    (item,) = (await fleet.api.get("/api/devices/with-backup-info")).expect()["devices"]
    assert (item["config_version"], item["config_changed_at"][:10]) == (1, "2020-09-13")
    assert item["config_hash"]
    assert (item["last_backup_status"], item["last_backup_at"], item["last_success_at"]) == (
        "never",
        None,
        None,
    )


async def test_names_with_odd_characters(fleet: Fleet, repository: Repository) -> None:
    """Blanks, letters that are not ASCII, quotes, a dash in front, brackets, and two extensions."""
    names = ["core switch", "Zürich-1", 'a"b', "-c", "x[1]", "10.0.0.1", "sw.lab.cfg", "a\\b"]
    ids = [await fleet.entry(name, 22) for name in names]
    repository.commit({f"group one/{name}": text(name) for name in names})
    repository.commit({f"group one/{name}": text(f"{name} again") for name in names})
    done = await imported(fleet, repository)
    assert (done.versions, done.problems) == (2 * len(names), {})
    for device_id, name in zip(ids, names, strict=True):
        assert [line for _, _, line in await history(fleet, device_id)] == [name, f"{name} again"]


async def test_files_beside_those_of_devices(fleet: Fleet, repository: Repository) -> None:
    """What RANCID and people keep beside: lists, logs, a README, a link, hidden files."""
    device_id = await fleet.entry("router", 22)
    (repository.folder / "link").symlink_to("/etc/passwd")
    repository.commit(
        {
            "lab/configs/router": b"!RANCID-CONTENT-TYPE: juniper\n" + text("one"),
            "lab/configs/.cvsignore": b"*.new\n",
            "lab/router.db": b"router;juniper;up\n",
            "lab/routers.all": b"router;juniper\n",
            "lab/router": b"no config\n",
            "README": b"read me\n",
        }
    )
    done = await imported(fleet, repository)
    assert (done.versions, done.problems) == (1, {})
    assert await history(fleet, device_id) == [(1, 0, "one")]
