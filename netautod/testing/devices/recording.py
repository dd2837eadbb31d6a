"""The recording of a watched session for others to read, in the form that `read_script` reads."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netautod.secrets.redaction.patterns import HIDDEN
from netautod.transport.ssh.encoding import readable
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.target import Step

NOT_A_COMMAND = "netautod-not-a-command"
_UNKNOWN = "% Invalid input detected at '^' marker.\n"
_NAME = "operator"


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A recording of a session.

    `session` is the text of session.toml, None for a platform without a command line; `first` that of
    first.txt; `secrets` is how many different secrets were replaced.
    """

    session: str | None
    first: str
    secrets: int

    def write(self, place: Path) -> list[Path]:
        """Write the files, which replace earlier ones: in the folder `place`, or beside the `.toml` that it
        is.
        """
        is_file = place.suffix == ".toml"
        script = place if is_file else place / "session.toml"
        first = place.with_suffix(".txt") if is_file else place / "first.txt"
        script.parent.mkdir(parents=True, exist_ok=True)
        wanted = {script: self.session, first: self.first}
        for path, text in wanted.items():
            if text is not None:
                path.write_text(text, encoding="utf-8")
        return [path for path, text in wanted.items() if text is not None]


def recorded(
    steps: Sequence[Step], config: str, platform: Platform, *, readers: Platform, names: Iterable[str]
) -> Recording:
    """Build the recording of a session in which `config` was captured; `readers` knows the secrets of all
    platforms.

    `names` are words that must not stand in it (user name, password, enable secret): the user of the
    recording provides others.
    """
    cover = _Cover(platforms=(platform, readers), words=tuple(filter(None, names)))
    first = cover.over(readable(config))
    script = _script(steps, platform, cover) if platform.channel == "shell" else None
    head = f"# fixture: recorded by `netautod platform try`, {platform.name}\n"
    return Recording(session=script, first=head + first, secrets=len(cover.known))


@dataclass(frozen=True, kw_only=True)
class _Cover:
    """A replacer of secrets: the same secret gets the same word, so that what depends on it still shows."""

    platforms: tuple[Platform, ...]
    words: tuple[str, ...]
    known: dict[str, str] = field(default_factory=dict)

    def over(self, text: str) -> str:
        for platform in self.platforms:
            text = self._over(text, platform)
        for number, word in enumerate(self.words):
            # The name is what comes first; it may stand in the text as a word, a secret anywhere.
            pattern = rf"(?<![\w-]){re.escape(word)}(?![\w-])" if number == 0 else re.escape(word)
            text = re.sub(pattern, _NAME if number == 0 else self._fake(word), text)
        return text

    def _over(self, text: str, platform: Platform) -> str:
        shown = redact(text, platform)
        before, after = text.split("\n"), shown.split("\n")
        if len(before) != len(after):  # a secret of several lines became one
            before = after
        return "\n".join(self._line(*pair) for pair in zip(before, after, strict=True))

    def _line(self, before: str, after: str) -> str:
        if HIDDEN not in after:
            return after
        pieces = after.split(HIDDEN)
        match = re.fullmatch("(.*?)".join(map(re.escape, pieces)), before)
        secrets = match.groups() if match is not None else ("",) * (len(pieces) - 1)
        fakes = [self._fake(secret) for secret in secrets]
        return "".join(piece + fake for piece, fake in zip(pieces, [*fakes, ""], strict=True))

    def _fake(self, secret: str) -> str:
        if secret in self.known.values():  # replaced before
            return secret
        quote = secret[0] if secret[:1] in ("'", '"') and secret[-1:] == secret[0] else ""
        return self.known.setdefault(secret, f"{quote}hidden{len(self.known) + 1:04d}{quote}")


def _script(steps: Sequence[Step], platform: Platform, cover: _Cover) -> str:
    modes = {step.mode: step.text for step in steps if step.mode}
    first = next((step.mode for step in steps if step.kind == "logged_in"), "")
    last = [step.mode for step in steps if step.mode][-1]
    ran = [step for step in steps if step.kind == "ran"]
    unknown = next((step.output for step in ran if step.text == NOT_A_COMMAND), "") or _UNKNOWN
    silent = [step.text for step in ran if not step.output.strip()]
    read = {item.command for item in platform.capture}
    lines = [
        f"# Recorded by `netautod platform try`: {platform.name}.",
        f"mode = {_text(last)}",
        *([f"unprivileged = {_text(first)}"] if first != last else []),
        f"ignored = [{', '.join(_text(re.escape(command)) for command in silent)}]",
        f"unknown = {_text(cover.over(readable(unknown)).rstrip() + chr(10))}",
        "",
        "[prompts]",
        *(f"{_text(mode)} = {_text(_prompt(prompt, platform, cover))}" for mode, prompt in modes.items()),
    ]
    if first != last and platform.enable is not None:
        lines += _change(platform.enable.command, last)
    one = len(platform.capture) == 1
    for step in ran:
        if step.text == NOT_A_COMMAND or step.text in silent:
            continue
        lines += ["", "[[commands]]", f"command = {_text(re.escape(step.text))}"]
        if not (one and (step.text in read or step.text in platform.capture[0].alternatives)):
            lines.append(f"output = {_text(cover.over(readable(step.output)).rstrip() + chr(10))}")
    return "\n".join(lines) + "\n"


def _prompt(prompt: str, platform: Platform, cover: _Cover) -> str:
    """Mark the place of the host name, because a simulated device has a name of its own."""
    found = platform.mode_of(prompt)
    host = found[1] if found is not None else ""
    marked = prompt.replace(host, "{host}", 1) if host else prompt
    return cover.over(marked)


def _change(command: str, mode: str) -> list[str]:
    return [
        "",
        "[[changes]]",
        f"command = {_text(re.escape(command))}",
        f"to = {_text(mode)}",
        'password_prompt = "Password: "',
        'refusal = "% Access denied\\n\\n"',
    ]


def _text(value: str) -> str:
    """Return the value as a basic string of TOML, which has the escapes of JSON, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
