"""Loads the fixtures of tests/data/platforms: readings of a device, its secrets, and its command line."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from netautod.ssh.platform_model import Platform
from netautod.testing import CliScript, Faults, SimulatedDevice, read_script

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

    def device(self, platform: Platform, *, text: str | None = None, **fields: object) -> SimulatedDevice:
        """A simulated device of the platform that shows `text` (default: the first reading)."""
        device = SimulatedDevice(platform=self.platform, script=self.script, **fields)  # type: ignore[arg-type]
        show(device, platform, self.first if text is None else text)
        return device


def names() -> list[str]:
    """The folders."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


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
    """Lets the device print the text: as the one command of the platform, or by the heads of its parts."""
    device.responses, device.files = {}, {}
    if len(platform.capture) == 1:
        command = platform.capture[0].command
        assert command is not None
        device.responses[command] = text
        return
    heads = list(_PART.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        there = device.files if head["kind"] == "file" else device.responses
        there[head["name"]] = text[head.end() + 1 : end].rstrip("\n") + "\n"


def lines_per_page(script: CliScript | None) -> int:
    """0 for a platform without a pager."""
    return 0 if script is None or script.pager is None else script.pager.lines


PAGED = Faults(ignore_paging_off=True)
