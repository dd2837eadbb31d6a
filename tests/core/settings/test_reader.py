"""Sections of any program: read from file, environment and flags, checked one by one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from netautod.core.settings.field import SettingsError, check_networks, setting
from netautod.core.settings.reader import Reader


@dataclass(frozen=True, kw_only=True)
class Oven:
    """`check` refuses a cold oven with something in it."""

    heat: float = setting(0.0, "Degrees.", low=0, high=300)
    dishes: tuple[str, ...] = setting((), "What is in it.")
    code: str = setting("", "Opens it.", secret=True)

    def check(self) -> None:
        if self.dishes and not self.heat:
            raise SettingsError("oven.heat must be set with oven.dishes")


@dataclass(frozen=True, kw_only=True)
class Kitchen:
    """Top-level settings; `oven` is none, it has no help text."""

    owner: str = setting("", "Who cooks.")
    oven: Oven = Oven()


def reader(folder: Path, text: str = "", environment: dict[str, str] | None = None, **flags: Any) -> Reader:
    file = folder / "kitchen.toml"
    file.write_text(text)
    named = {name.replace("__", "."): value for name, value in flags.items()}
    return Reader(file=file, environment=environment or {}, flags=named)


def test_a_flag_counts_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    text = "owner = 'file'\n[oven]\nheat = 1\ncode = 'file'\ndishes = ['file']\n"
    environment = {"NETAUTOD_OVEN_HEAT": "2", "NETAUTOD_OVEN_DISHES": "a, b", "NETAUTOD_OWNER": "variable"}
    read = reader(tmp_path, text, environment, oven__heat=3)
    assert read.section("oven", Oven) == Oven(heat=3.0, dishes=("a", "b"), code="file")
    assert read.top_level(Kitchen) == {"owner": "variable"}
    read.refuse_unknown()


def test_what_is_not_said_has_its_default(tmp_path: Path) -> None:
    assert reader(tmp_path).section("oven", Oven) == Oven()
    assert Reader(file=None, environment={}, flags={}).top_level(Kitchen) == {}


@pytest.mark.parametrize(
    ("text", "environment", "said"),
    [
        pytest.param("[oven]\nheat = 301", {}, ": oven.heat must be at most 300", id="a value of the file"),
        pytest.param("[oven]\nheat = 'x'", {}, ": oven.heat must be a number", id="a type of the file"),
        pytest.param(
            "[oven]\nheat = 301", {"NETAUTOD_OVEN_HEAT": "3"}, "at most 300", id="one that is overridden"
        ),
        pytest.param("", {"NETAUTOD_OVEN_HEAT": "hot"}, "OVEN_HEAT must be a number", id="a variable"),
        pytest.param("[oven]\nheet = 1", {}, ": unknown setting oven.heet", id="an unknown key"),
        pytest.param("oven = 1", {}, ": oven must be a section", id="no section"),
        pytest.param("[oven]\ndishes = ['a']", {}, "^oven.heat must be set", id="what the check says"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, environment: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        reader(tmp_path, text, environment).section("oven", Oven)


def test_what_nobody_reads(tmp_path: Path) -> None:
    environment = {
        "NETAUTOD_OVEN_HEAT": "1",
        "NETAUTOD_OVEN_HEET": "1",
        "NETAUTOD_SINK_TAPS": "2",
        "SINK": "3",
    }
    read = reader(tmp_path, "[oven]\n[sink]\ntaps = 2\n", environment)
    read.section("oven", Oven)
    with pytest.raises(SettingsError, match="unknown setting sink"):
        read.refuse_unknown()
    read.refuse_unknown(without=["sink"])
    warnings: list[str] = []
    read.warn_of_variables(warnings.append)
    assert warnings == [
        "unknown environment variable NETAUTOD_OVEN_HEET is ignored",
        "unknown environment variable NETAUTOD_SINK_TAPS is ignored",
    ]
    read.warn_of_variables(warnings.append, without=["sink"])
    assert len(warnings) == 3


def test_networks() -> None:
    check_networks("kitchen.allow", ["192.0.2.1", "2001:db8::/32", "192.0.2.7/24"])
    with pytest.raises(SettingsError, match=r"^kitchen\.allow: 'sink' is not an address or network"):
        check_networks("kitchen.allow", ["sink"])


def test_an_older_name_is_taken_with_a_warning(tmp_path: Path) -> None:
    said: list[str] = []
    made = Reader(
        file=_file(tmp_path, "[stove]\nwarmth = 50\n"),
        environment={"NETAUTOD_STOVE_LOCK": "1234"},
        flags={},
        renamed={"stove.warmth": "oven.heat", "stove.lock": "oven.code", "stove.size": "oven.dishes"},
    )
    oven = made.section("oven", Oven)
    made.section("stove", Kitchen)
    made.refuse_unknown()
    made.warn_of_old_names(said.append)
    assert (oven.heat, oven.code) == (50, "1234")
    assert said == [
        f"{made.file}: stove.warmth is called oven.heat now",
        "the environment variable NETAUTOD_STOVE_LOCK is called NETAUTOD_OVEN_CODE now",
    ]


def test_the_name_of_today_counts_beside_an_older_one(tmp_path: Path) -> None:
    made = Reader(
        file=_file(tmp_path, "[stove]\nwarmth = 50\n[oven]\nheat = 60\n"),
        environment={"NETAUTOD_STOVE_LOCK": "old", "NETAUTOD_OVEN_CODE": "new"},
        flags={},
        renamed={"stove.warmth": "oven.heat", "stove.lock": "oven.code"},
    )
    assert made.section("oven", Oven) == Oven(heat=60, code="new")


def _file(folder: Path, text: str) -> Path:
    file = folder / "kitchen.toml"
    file.write_text(text)
    return file
