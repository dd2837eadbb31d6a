"""Loads the fixtures of tests/data/platforms: readings of a device, its secrets, and its command line."""

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from netautod.testing import CliScript, Faults, SimulatedDevice, read_script
from netautod.transport.ssh.platform.model import Platform
from tests.support.recorded_fixtures import NotInstalled, readings

FOLDER = Path(__file__).parent.parent / "data" / "platforms"
_HEAD = "# fixture: "
_PART = re.compile(r"^### (?P<kind>command|file) (?P<name>.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class PlatformFixture:
    """Three readings as the engine captures them; `secrets` stand in at least one of them.

    `origin` is `constructed`, or `recorded, <source>`. `script` is None where the platform has exec channels.
    """

    platform: str
    origin: str
    first: str
    second: str
    changed: str
    secrets: tuple[str, ...]
    script: CliScript | None = field(repr=False)

    @property
    def id(self) -> str:
        """Its name in a test report."""
        return self.platform if self.origin == "constructed" else f"{self.platform} (recorded)"

    def device(self, platform: Platform, *, text: str | None = None, **fields: object) -> SimulatedDevice:
        """A simulated device of the platform that shows `text` (default: the first reading)."""
        device = SimulatedDevice(platform=self.platform, script=self.script, **fields)  # type: ignore[arg-type]
        show(device, platform, self.first if text is None else text)
        return device


def names() -> list[str]:
    """The folders."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def load_all() -> list[PlatformFixture]:
    """Every constructed fixture, and the recorded ones whose package is installed."""
    found = [load(name) for name in names()]
    for path in recordings():
        with suppress(NotInstalled):
            found.append(load_recorded(path))
    return found


def recordings() -> list[Path]:
    """The descriptions of the recorded fixtures."""
    return sorted(FOLDER.glob("*/recorded.toml"))


def load_recorded(path: Path) -> PlatformFixture:
    """The fixture that a `recorded.toml` describes; NotInstalled names the package that is missing."""
    origin, (first, second, changed), secrets = readings(path)
    constructed = load(path.parent.name)
    return replace(constructed, origin=origin, first=first, second=second, changed=changed, secrets=secrets)


def load(name: str) -> PlatformFixture:
    """The constructed fixture of a platform."""
    folder = FOLDER / name
    origins, texts = zip(*(_reading(folder / f"{part}.txt") for part in _READINGS), strict=True)
    script = folder / "session.toml"
    return PlatformFixture(
        platform=name,
        origin=origins[0],
        first=texts[0],
        second=texts[1],
        changed=texts[2],
        secrets=tuple((folder / "secrets.txt").read_text(encoding="utf-8").split("\n")[:-1]),
        script=read_script(script) if script.exists() else None,
    )


_READINGS = ("first", "second", "changed")


def _reading(path: Path) -> tuple[str, str]:
    head, _, text = path.read_text(encoding="utf-8").partition("\n")
    assert head.startswith(_HEAD), f"{path} must begin with {_HEAD!r}"
    return head.removeprefix(_HEAD), text


def show(device: SimulatedDevice, platform: Platform, text: str) -> None:
    """Lets the device print the text: as the one command of the platform, or by the heads of its parts.

    Of several parts, a text without heads is the first one; a command that no head names is refused.
    """
    device.responses, device.files = {}, {}
    heads = list(_PART.finditer(text)) if len(platform.capture) > 1 else []
    if platform.channel == "shell" and device.script is not None:
        unknown = device.script.unknown
        device.responses = {item.command: unknown for item in platform.capture if item.command is not None}
    if not heads:
        command = platform.capture[0].command
        assert command is not None
        device.responses[command] = text
        return
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        there = device.files if head["kind"] == "file" else device.responses
        there[head["name"]] = text[head.end() + 1 : end].rstrip("\n") + "\n"


def lines_per_page(script: CliScript | None) -> int:
    """0 for a platform without a pager."""
    return 0 if script is None or script.pager is None else script.pager.lines


PAGED = Faults(ignore_paging_off=True)
