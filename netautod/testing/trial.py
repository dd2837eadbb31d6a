"""The trial of a platform on a device before the eyes of a person: each step is shown as it happens."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from netautod.secrets.redaction.patterns import HIDDEN
from netautod.testing.devices.recording import NOT_A_COMMAND, recorded
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.connection.connect import network_problem
from netautod.transport.ssh.encoding import readable, to_bytes
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import quoted, redact
from netautod.transport.ssh.session import CliSession, open_session, refused
from netautod.transport.ssh.target import Login, SessionLimits, Step, Target, anywhere

SAMPLE = 5
_PROBE_SECONDS = 10.0


@dataclass(kw_only=True, eq=False)
class Trial:
    """A trial of one login and one capture; `say` gets a line for each step, without secrets.

    `readers` knows the secrets of all platforms (`PlatformRegistry.for_readers`).
    """

    target: Target
    login: Login
    readers: Platform
    say: Callable[[str], None]
    steps: list[Step] = field(default_factory=list, init=False)

    async def run(self, limits: SessionLimits, *, record: Path | None) -> None:
        """Log in and capture. Raises the DeviceFailed of the step that failed; OSError where the recording
        cannot be written.
        """
        await self._resolve()
        async with open_session(self.target, self.login, limits=limits, on_step=self._show_step) as session:
            found = await capture(session)
            if record is not None:
                await self._refused_command(session)
        platform = self.target.platform
        for note in found.notes:
            self._line("note", quoted(note, platform, most=200))
        self._line("complete", f"{len(to_bytes(found.raw))} bytes; {_rules(platform, found.raw)}")
        self._show_redaction(found.raw)
        if record is not None:
            self._record(found.raw, record)

    async def _resolve(self) -> None:
        host, port = self.target.host, self.target.port
        try:
            addresses = await anywhere(host, port)
        except (OSError, UnicodeError) as exc:
            kind, text = network_problem(exc)
            raise DeviceFailed(f"{host}: {text}", kind=kind) from exc
        shown = ", ".join(dict.fromkeys(addresses))
        self._line("address", f"{shown} port {port}, {self.target.protocol}")

    def _show_step(self, step: Step) -> None:
        if step.kind == "waits":
            return
        self.steps.append(step)
        if step.kind == "connected":
            self._line("key", step.text or "none: telnet proves nothing and encrypts nothing")
        elif step.kind == "ran":
            self._line("command", f"`{step.text}` {self._outcome(step)}")
        else:
            where = "login" if step.kind == "logged_in" else "enable"
            shown = repr(quoted(step.text, self.target.platform)) if step.text else "none, by channels"
            self._line(where, f"prompt {shown}{f', mode {step.mode}' if step.mode else ''}")

    def _outcome(self, step: Step) -> str:
        refusal = refused(readable(step.output).split("\n"), self.target.platform)
        size = len(to_bytes(step.output))
        if refusal is not None and size < len(refusal) + 200:
            return f"was refused: {refusal}"
        return f"printed {size} bytes in {step.seconds:.1f} s" if size else "was accepted"

    async def _refused_command(self, session: CliSession) -> None:
        """Record how the device refuses a command: a recording without that plays back a device that knows
        everything.
        """
        if self.target.platform.channel != "shell":
            return
        try:
            async with asyncio.timeout(2 * _PROBE_SECONDS):
                await session.run(NOT_A_COMMAND, timeout=_PROBE_SECONDS)
        except (DeviceFailed, TimeoutError):
            self._line("note", "the device did not answer an unknown command in time")

    def _show_redaction(self, raw: str) -> None:
        shown = redact(readable(raw), self.readers)
        lines = [line.strip() for line in shown.split("\n") if HIDDEN in line]
        self._line("secrets", f"{shown.count(HIDDEN)} hidden on {len(lines)} lines")
        for line in lines[:SAMPLE]:
            self._line("", line[:100])

    def _record(self, raw: str, folder: Path) -> None:
        login = self.login
        names = [login.username, *(word for word in (login.password, login.enable_secret) if word)]
        made = recorded(self.steps, raw, self.target.platform, readers=self.readers, names=names)
        files = made.write(folder)
        self._line("recorded", f"{', '.join(map(str, files))}; {made.secrets} secrets replaced. Read it over")

    def _line(self, what: str, text: str) -> None:
        self.say(f"{what:<10}{text}")


def _rules(platform: Platform, raw: str) -> str:
    """Return which rules of completeness the text has passed."""
    kept = ["the prompt came back"] if platform.channel == "shell" else ["every command ended well"]
    if platform.end_marker is not None:
        kept.append("the end marker is the last line")
    if platform.must_contain:
        kept.append(f"{len(platform.must_contain)} kinds of lines are in it that must be")
    if platform.own:
        kept.append(f"{'a' if platform.is_own(readable(raw)) else 'but NO'} line of `own` is in it")
    if platform.smallest > 1:
        kept.append(f"at least {platform.smallest} bytes")
    kept.append("no refusal, no text of the pager")
    return ", ".join(kept)
