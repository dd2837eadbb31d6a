"""The values that describe a platform: all that the CLI engine knows of one kind of device."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

from netautod.transport.ssh.config_lines.grammar import ConfigLines
from netautod.transport.ssh.platform.clock_lines import MOVING_LINE
from netautod.transport.ssh.platform.general_secrets import is_clean
from netautod.transport.ssh.platform.line_memory import LineMemory
from netautod.transport.ssh.platform.log_forms import begins_as_log, holds_log
from netautod.transport.ssh.read_only.grammar import ReadOnlyGrammar


@dataclass(frozen=True, kw_only=True)
class CaptureItem:
    """A part of a configuration: a command, or (exec channel only) a file that is read by its path.

    `alternatives` are tried in turn where the device refuses the command (releases with another syntax). An
    `optional` part that is refused is left out with a note.
    """

    command: str | None = None
    file: str | None = None
    alternatives: tuple[str, ...] = ()
    optional: bool = False

    @classmethod
    def parse(cls, entry: str) -> "CaptureItem":
        """Parse the form of the settings: `/etc/hosts` is a file, `ip route` a command, `-ip r` optional."""
        what, optional = entry.removeprefix("-").strip(), entry.startswith("-")
        if what.startswith("/"):
            return cls(file=what, optional=optional)
        return cls(command=what, optional=optional)

    @property
    def title(self) -> str:
        """The head over this part in a configuration of several parts."""
        return f"file {self.file}" if self.file is not None else f"command {self.command}"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part beside the configuration with a read command of its own: an inventory, licences.

    It is read in the session of a capture, after the configuration, and never makes that fail: one that the
    device refuses is left out with a note. `alternatives` as in CaptureItem. Lines that `noise_lines` match
    and pieces that `noise_parts` find change by themselves and are not kept. With `difference` the command
    prints a configuration as well (the one for the next start), and what is shown of the part is what differs
    in the running one.
    """

    name: str
    command: str
    alternatives: tuple[str, ...] = ()
    difference: bool = False
    noise_lines: tuple[re.Pattern[str], ...] = ()
    noise_parts: tuple[re.Pattern[str], ...] = ()

    def without_noise(self, lines: Iterable[str]) -> list[str]:
        """Return the lines without what changes by itself."""
        kept = (line for line in lines if not any(noise.match(line) for noise in self.noise_lines))
        return [self._quiet(line) for line in kept]

    def _quiet(self, line: str) -> str:
        for noise in self.noise_parts:
            line = noise.sub("", line)
        return line


@dataclass(frozen=True, kw_only=True)
class LoginDialog:
    """The login that a device asks for on its terminal, after that of SSH or instead of it.

    It is answered with the name and the password of the same credential, each once.
    """

    password_prompt: re.Pattern[str]
    user_prompt: re.Pattern[str] | None = None

    def is_user_prompt(self, line: str) -> bool:
        """Return whether the line is the prompt for the name."""
        return self.user_prompt is not None and self.user_prompt.search(line) is not None

    def is_dialog_prompt(self, line: str) -> bool:
        """Return whether the line is one of the prompts of the dialog."""
        return self.is_user_prompt(line) or self.password_prompt.search(line) is not None


@dataclass(frozen=True, kw_only=True)
class EnableDialog(LoginDialog):
    """The dialog from the unprivileged to the privileged mode, by a command and the enable secret.

    Where a device prompts for a name first, the name of the login is sent.
    """

    command: str


@dataclass(frozen=True, kw_only=True)
class LoginAnswer:
    """An answer to a text between login and prompt that `pattern` matches; sent once per session.

    For harmless texts only (press any key, a banner to accept): what `answer` says decides nothing.
    """

    pattern: re.Pattern[str]
    answer: str


@dataclass(frozen=True, kw_only=True)
class SecretPattern:
    """The place of a secret on a line: the group `secret` of `pattern`, matched from the start of the line.

    `shown` is `stable` when two reads of the same setting show the same text, `resalted` when the device
    encrypts it anew for each read. With `until` the secret goes on over the following lines, to the end of
    the first line that `until` finds.
    """

    pattern: re.Pattern[str]
    shown: Literal["stable", "resalted"]
    until: re.Pattern[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ConfigChange:
    """The commands that enter lines of configuration.

    `enter` leads into the configuration mode and `leave` out of it. `apply` makes the lines take effect where
    they do not at once, `discard` forgets those that were not applied. `save` stores the configuration for
    the next start; empty where a change is always kept (`keeps`), or where that asks a person. `negation` is
    the word before a line that takes it out. `failures` are lines by which the device says that it did not
    take a line, beside the platform's own. `lines` tells which lines are configuration.
    """

    enter: tuple[str, ...]
    leave: tuple[str, ...]
    apply: tuple[str, ...] = ()
    discard: tuple[str, ...] = ()
    save: tuple[str, ...] = ()
    keeps: bool = False
    negation: str = "no"
    failures: tuple[re.Pattern[str], ...] = ()
    lines: ConfigLines = field(default_factory=ConfigLines)

    def stores(self, lines: Iterable[str]) -> bool:
        """Return whether the configuration is stored for the next start once the lines are sent, without
        `save`.
        """
        return self.keeps or any(self._stores(line) for line in lines)

    def _stores(self, line: str) -> bool:
        words = line.lower().split()
        own = [command.split() for command in (*self.save, *self.apply)]
        return self.lines.stores(line) or any(
            len(words) >= len(full)
            and all(long.startswith(word) for long, word in zip(full, words, strict=False))
            for full in own
        )


@dataclass(frozen=True, kw_only=True)
class InventoryNames:
    """The names of a platform in inventories: slugs of NetBox's users, and drivers of NAPALM.

    Netmiko's names are not part of this: they are values of device_type, and so among the aliases.
    """

    netbox: tuple[str, ...] = ()
    napalm: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A platform: everything that the engine knows of one kind of device; the data is in
    `platforms/<name>.toml`.

    `prompts` maps a mode (`exec`, `privileged`, `config`) to the pattern of its prompt line, whose group
    `host` is the name of the device; groups whose name begins with `moving` are what differs from one prompt
    to the next (a counter, a star for unsaved changes). `prompt_heads` are lines above the prompt that belong
    to it. `enter` ends each line that is sent. `login_suffix` follows the user name at the login. `pager_end`
    is the text of a pager that waits at the end of the output for `pager_end_key`. `gaps` are lines by which
    a device says that it left a part of the configuration out, wherever they stand. Each of `must_contain` is
    found on some line of every whole configuration, that of a new device too, and none has fewer than
    `smallest` bytes. `own` are lines that no other kind of device has, of which most configurations of this
    one have some; `kinds` has those of each platform of the registry by its name. `visible` finds what stays
    readable (the group `visible`) though the general rule of redaction takes it for a secret. `change` is
    None where configurations cannot be changed. `read_only` tells which commands only read. `capture_mode` is
    the mode that a capture needs, None for any. `sources` cites where the facts come from.
    """

    name: str
    aliases: tuple[str, ...] = ()
    names: InventoryNames = InventoryNames()
    sources: tuple[str, ...] = ()
    channel: Literal["shell", "exec"] = "shell"
    prompts: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    prompt_heads: tuple[re.Pattern[str], ...] = ()
    enter: str = "\n"
    login_suffix: str = ""
    capture_mode: str | None = None
    login: LoginDialog | None = None
    login_answers: tuple[LoginAnswer, ...] = ()
    paging_off: tuple[str, ...] = ()
    width: tuple[str, ...] = ()
    pager: tuple[re.Pattern[str], ...] = ()
    pager_key: str = " "
    pager_end: tuple[re.Pattern[str], ...] = ()
    pager_end_key: str = "q"
    questions: tuple[re.Pattern[str], ...] = ()
    log_lines: tuple[re.Pattern[str], ...] = ()
    enable: EnableDialog | None = None
    change: ConfigChange | None = None
    capture: tuple[CaptureItem, ...]
    parts: tuple[Part, ...] = ()
    end_marker: re.Pattern[str] | None = None
    must_contain: tuple[re.Pattern[str], ...] = ()
    own: tuple[re.Pattern[str], ...] = ()
    smallest: int = 1
    failures: tuple[re.Pattern[str], ...] = ()
    gaps: tuple[re.Pattern[str], ...] = ()
    noise_lines: tuple[re.Pattern[str], ...] = ()
    noise_parts: tuple[re.Pattern[str], ...] = ()
    secrets: tuple[SecretPattern, ...] = ()
    visible: tuple[re.Pattern[str], ...] = ()
    read_only: ReadOnlyGrammar = field(default_factory=ReadOnlyGrammar, repr=False)
    kinds: Mapping[str, tuple[re.Pattern[str], ...]] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Return the fields alone, for worker processes: what the platform knows of lines and of other
        platforms stays behind.
        """
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"kinds": {}}

    def slugs(self) -> frozenset[str]:
        """Return every name of the platform as NetBox writes slugs, with dashes."""
        names = (self.name, *self.aliases, *self.names.netbox, *self.names.napalm)
        return frozenset(name.replace("_", "-") for name in names)

    def mode_of(self, line: str) -> tuple[str, str] | None:
        """Return the mode and the host name when `line` is a prompt of this platform, else None."""
        for mode, pattern in self.prompts.items():
            match = pattern.match(line)
            if match is not None:
                return mode, match["host"]
        return None

    def steady(self, line: str) -> str:
        """Return the prompt without what differs from one to the next; other lines as they are."""
        for pattern in self.prompts.values():
            moving = [name for name in pattern.groupindex if name.startswith("moving")]
            match = pattern.match(line) if moving else None
            if match is not None:
                for start, end in sorted((match.span(name) for name in moving), reverse=True):
                    line = line[: max(start, 0)] + line[max(end, 0) :]
                break
        return line.rstrip()

    def is_prompt_head(self, line: str) -> bool:
        """Return whether the line, directly above a prompt, is a part of it."""
        return any(pattern.match(line) for pattern in self.prompt_heads)

    def is_question(self, line: str) -> bool:
        """Return whether the device waits for an answer that only a person should give."""
        return any(pattern.search(line) for pattern in self.questions)

    def is_log_line(self, line: str) -> bool:
        """Return whether the device printed this line on its own, not as part of a command's output."""
        return begins_as_log(line) or any(pattern.match(line) for pattern in self.log_lines)

    def is_own(self, text: str) -> bool:
        """Return whether the text has a line that no other kind of device has."""
        return any(pattern.search(text) for pattern in self.own)

    def holds_log(self, line: str) -> bool:
        """Return whether the device may have printed the line on its own, or a log line may have torn it."""
        return holds_log(line) or self.is_log_line(line)

    @cached_property
    def output_lines(self) -> LineMemory:
        """Return a memory of output lines that are no log line, no text of a pager and no word of a gap."""
        odd = [pattern.search for pattern in (*self.pager, *self.gaps)]
        return LineMemory(lambda line: not self.holds_log(line) and not any(found(line) for found in odd))

    @cached_property
    def config_lines(self) -> LineMemory:
        """Return a memory of the lines that normalising leaves as they are."""
        noise, parts, secret = self.is_noise, self.any_noise_part.search, self.any_secret.match

        def is_plain(line: str) -> bool:
            if noise(line) or parts(line) is not None or secret(line) is not None:
                return False
            return line == line.rstrip() and is_clean(line, self.visible)

        return LineMemory(is_plain)

    def is_noise(self, line: str) -> bool:
        """Return whether the line says nothing about the configuration."""
        return self.any_noise_line.match(line) is not None or MOVING_LINE.match(line) is not None

    @cached_property
    def any_noise_line(self) -> re.Pattern[str]:
        """Return one pattern for the platform's own lines that change by themselves (one search, not
        many).
        """
        return _any_of(self.noise_lines)

    @cached_property
    def any_noise_part(self) -> re.Pattern[str]:
        """Return one pattern for the pieces within a line that change by themselves."""
        return _any_of(self.noise_parts)

    @cached_property
    def any_secret(self) -> re.Pattern[str]:
        """Return one pattern that matches every line that one of the secret patterns matches."""
        return _any_of([secret.pattern for secret in self.secrets])

    @cached_property
    def any_long_secret(self) -> re.Pattern[str]:
        """The same for the secrets that go on over several lines."""
        return _any_of([secret.pattern for secret in self.secrets if secret.until is not None])


def _any_of(patterns: "list[re.Pattern[str]] | tuple[re.Pattern[str], ...]") -> re.Pattern[str]:
    if not patterns:
        return re.compile(r"(?!)")  # matches nothing
    return re.compile("|".join(f"(?:{re.sub(r'[(][?]P<[^>]+>', '(?:', item.pattern)})" for item in patterns))
