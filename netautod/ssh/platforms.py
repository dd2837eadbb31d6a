"""The platforms: what we know of each kind of device, and the registry that finds them by device_type."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

from netautod.errors import InvalidInput
from netautod.ssh import platform_file

FALLBACK = "generic"


@dataclass(frozen=True, kw_only=True)
class CaptureItem:
    """One part of a configuration: a command, or (exec channel only) a file that is read with its path."""

    command: str | None = None
    file: str | None = None
    optional: bool = False

    @property
    def title(self) -> str:
        """The head over this part in a configuration of several parts."""
        return f"file {self.file}" if self.file is not None else f"command {self.command}"


@dataclass(frozen=True, kw_only=True)
class EnableDialog:
    """How to get from the unprivileged to the privileged mode."""

    command: str
    password_prompt: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class SecretPattern:
    """Where a secret stands on a line: the group `secret` of `pattern`, matched from the start of the line.

    `shown` is `stable` when two reads of the same setting show the same text, `resalted` when the device
    encrypts it anew for each read.
    """

    pattern: re.Pattern[str]
    shown: Literal["stable", "resalted"]


@dataclass(frozen=True, kw_only=True)
class Platform:
    """All that the engine knows of one kind of device; the data is in `platforms/<name>.toml`.

    `prompts` maps a mode (`exec`, `privileged`, `config`) to the pattern of its prompt line, whose group
    `host` is the name of the device. `capture_mode` is the mode that a capture needs, None for any.
    `sources` cites where the facts come from.
    """

    name: str
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    channel: Literal["shell", "exec"] = "shell"
    prompts: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    capture_mode: str | None = None
    paging_off: tuple[str, ...] = ()
    width: tuple[str, ...] = ()
    pager: tuple[re.Pattern[str], ...] = ()
    pager_key: str = " "
    questions: tuple[re.Pattern[str], ...] = ()
    log_lines: tuple[re.Pattern[str], ...] = ()
    enable: EnableDialog | None = None
    capture: tuple[CaptureItem, ...]
    end_marker: re.Pattern[str] | None = None
    failures: tuple[re.Pattern[str], ...] = ()
    noise_lines: tuple[re.Pattern[str], ...] = ()
    noise_parts: tuple[re.Pattern[str], ...] = ()
    secrets: tuple[SecretPattern, ...] = ()

    def mode_of(self, line: str) -> tuple[str, str] | None:
        """The mode and the host name when `line` is a prompt of this platform, else None."""
        for mode, pattern in self.prompts.items():
            match = pattern.match(line)
            if match is not None:
                return mode, match["host"]
        return None

    def is_question(self, line: str) -> bool:
        """Whether the device waits for an answer that only a person should give."""
        return any(pattern.search(line) for pattern in self.questions)

    def is_log_line(self, line: str) -> bool:
        """Whether the device printed this line on its own, not as part of a command's output."""
        return any(pattern.match(line) for pattern in self.log_lines)

    @cached_property
    def noise_or_log(self) -> re.Pattern[str]:
        """One pattern for every line that says nothing about the configuration (one search, not many)."""
        return _any_of([*self.noise_lines, *self.log_lines])

    @cached_property
    def any_noise_part(self) -> re.Pattern[str]:
        """One pattern for the pieces within a line that change by themselves."""
        return _any_of(self.noise_parts)

    @cached_property
    def any_secret(self) -> re.Pattern[str]:
        """One pattern that matches every line that one of the secret patterns matches."""
        return _any_of([secret.pattern for secret in self.secrets])


class PlatformRegistry:
    """The platforms by name and alias; made with those that ship with the product."""

    def __init__(self) -> None:
        self._by_name: dict[str, Platform] = {}
        self._names: dict[str, str] = {}
        folder = files("netautod.ssh").joinpath("platforms")
        for entry in sorted(folder.iterdir(), key=lambda item: item.name):
            if entry.name.endswith(".toml"):
                self.register(entry)

    def register(self, path: Traversable, *, replace: bool = False) -> Platform:
        """Adds the platform that the TOML file at `path` (a `pathlib.Path` too) defines.

        InvalidInput names the file and what is wrong with it. A name or alias that is taken already is
        refused, unless `replace` says that the file overrides that platform (an operator's own list of
        files for `linux`, say).
        """
        platform = load_platform(path)
        for name in (platform.name, *platform.aliases):
            owner = self._names.get(name)
            if owner is not None and not (replace and owner == platform.name):
                raise InvalidInput(f"{path.name}: the platform name {name!r} is taken by {owner!r} already")
        self._names = {name: owner for name, owner in self._names.items() if owner != platform.name}
        self._by_name[platform.name] = platform
        for name in (platform.name, *platform.aliases):
            self._names[name] = platform.name
        return platform

    def get(self, device_type: str) -> Platform:
        """The platform of a device_type, or alias; `generic` for one that nobody knows."""
        return self._by_name[self._names.get(device_type, FALLBACK)]

    def names(self) -> tuple[str, ...]:
        """The platforms with a definition of their own, sorted."""
        return tuple(sorted(self._by_name))


def load_platform(path: Traversable) -> Platform:
    """Reads and checks one TOML definition; InvalidInput names the file, the table and the key."""
    table = platform_file.read(path)
    prompts = table.table("prompts")
    session = table.table("session")
    enable = table.table("enable") if table.has("enable") else None
    capture = table.table("capture")
    noise = table.table("noise")
    platform = Platform(
        name=table.text("name"),
        aliases=table.texts("aliases"),
        sources=table.texts("sources", required=True),
        channel="exec" if table.choice("channel", ("shell", "exec")) == "exec" else "shell",
        prompts={mode: prompts.pattern(mode, groups=("host",)) for mode in prompts.names()},
        capture_mode=session.optional_text("capture_mode"),
        paging_off=session.texts("paging_off"),
        width=session.texts("width"),
        pager=session.patterns("pager"),
        pager_key=session.optional_text("pager_key") or " ",
        questions=session.patterns("questions"),
        log_lines=session.patterns("log_lines"),
        enable=None if enable is None else _enable(enable),
        capture=tuple(_item(item) for item in capture.tables("items")),
        end_marker=capture.optional_pattern("end_marker"),
        failures=capture.patterns("failures"),
        noise_lines=noise.patterns("lines"),
        noise_parts=noise.patterns("parts"),
        secrets=tuple(_secret(item) for item in table.tables("secrets", required=False)),
    )
    _check(platform, path.name)
    for part in (table, prompts, session, capture, noise):
        part.refuse_unknown()
    return platform


def _enable(table: platform_file.Table) -> EnableDialog:
    dialog = EnableDialog(command=table.text("command"), password_prompt=table.pattern("password_prompt"))
    table.refuse_unknown()
    return dialog


def _item(table: platform_file.Table) -> CaptureItem:
    item = CaptureItem(
        command=table.optional_text("command"),
        file=table.optional_text("file"),
        optional=table.flag("optional"),
    )
    if (item.command is None) == (item.file is None):
        raise table.wrong("needs either a command or a file")
    table.refuse_unknown()
    return item


def _secret(table: platform_file.Table) -> SecretPattern:
    shown = table.choice("shown", ("stable", "resalted"))
    secret = SecretPattern(
        pattern=table.pattern("pattern", groups=("secret",)),
        shown="stable" if shown == "stable" else "resalted",
    )
    table.refuse_unknown()
    return secret


def _check(platform: Platform, file_name: str) -> None:
    """What one key cannot say of itself."""
    if re.fullmatch(r"[a-z0-9_]+", platform.name) is None:
        raise InvalidInput(f"{file_name}: name must consist of a-z, 0-9 and _")
    if platform.channel == "shell" and not platform.prompts:
        raise InvalidInput(f"{file_name}: a shell platform needs at least one prompt")
    if platform.capture_mode is not None and platform.capture_mode not in platform.prompts:
        raise InvalidInput(f"{file_name}: [session] capture_mode names no mode of [prompts]")
    if platform.channel == "shell" and any(item.file is not None for item in platform.capture):
        raise InvalidInput(f"{file_name}: [capture] a file can be read over an exec channel only")


def _any_of(patterns: "list[re.Pattern[str]] | tuple[re.Pattern[str], ...]") -> re.Pattern[str]:
    if not patterns:
        return re.compile(r"(?!)")  # matches nothing
    return re.compile("|".join(f"(?:{re.sub(r'[(][?]P<[^>]+>', '(?:', item.pattern)})" for item in patterns))
