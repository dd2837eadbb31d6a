"""A conversation with the command line of a device: learns its prompt, sends commands, reads their output."""

import asyncio
from collections.abc import Callable

from netautod.core.redaction.commands import shown_command
from netautod.ssh import dialogs
from netautod.ssh.encoding import bytes_of, carried
from netautod.ssh.failures import DeviceFailed
from netautod.ssh.output import body_of
from netautod.ssh.platform.model import Platform
from netautod.ssh.platform.redact import quoted
from netautod.ssh.stream import ByteStream
from netautod.ssh.target import SessionLimits
from netautod.ssh.terminal import clean, visible, without_escapes

_ECHO_TICKS = 3  # quiet periods after which a prompt counts although the command was not echoed
_ECHO_BYTES = 4096  # within which the echo of a command stands
_HOST_CHARACTERS = 14  # IOS cuts the host name of a long prompt in its config modes
_LEARN_TRIES = 3
_PARTIAL_BYTES = 1024 * 1024  # of a failed command's output that the failure carries
_LOGIN = "after the login"
_Judge = Callable[[str], bool]
_WhenSilent = Callable[[int], bool]


class Shell:
    """One interactive channel; after `start` it stands at a known prompt.

    Commands run one at a time. After a failure the channel is out of step with the device and refuses more.
    `stage` in the methods below is the end of a sentence, such as "after `show version`".
    """

    def __init__(self, stream: ByteStream, platform: Platform, limits: SessionLimits) -> None:
        self._stream = stream
        self._platform = platform
        self._limits = limits
        self._answered: int | None = None  # where in the buffer the text stood that was answered last
        self._login_answers = list(platform.login_answers)
        self._usable = True
        self._echoed = False
        self._echo_ticks = _ECHO_TICKS
        self._host = ""
        self.prompt = ""
        self.mode = ""

    async def start(self, *, username: str, password: str | None) -> None:
        """Learns the prompt, answers what the device asks before; DeviceFailed `prompt` when none comes.

        A platform whose terminal asks for a login gets name and password, each once: `auth` when it refuses.
        """
        try:
            login = self._platform.login
            if login is not None:
                line = await self._answer(_LOGIN, lambda line: login.asks(line) or self._is_prompt(line))
                ask = self._asking(login.asks)
                await dialogs.log_in(line, login, ask, username=username, password=password)
            await self._learn_prompt()
        except DeviceFailed as exc:
            if exc.kind != "timeout":
                raise
            seen = quoted(self._last_line().strip()[-80:], self._platform)
            ending = f"the last line is {seen!r}" if seen else "the device printed nothing"
            raise DeviceFailed(f"{exc.text}; {ending}", kind="prompt") from exc
        self._login_answers.clear()

    async def turn_paging_off(self) -> list[tuple[str, str]]:
        """Sends the platform's commands for paging and width; answers them with what the device said.

        A device that does not know one says so; the pager is answered anyway.
        """
        commands = (*self._platform.paging_off, *self._platform.width)
        return [(command, await self.run(command)) for command in commands]

    async def enable(self, secret: str | None, *, username: str) -> None:
        """Goes to the privileged mode; sends the secret at most once. DeviceFailed `enable` if refused."""
        dialog = self._platform.enable
        if dialog is None:
            raise DeviceFailed(f"the platform {self._platform.name} knows no enable command", kind="enable")
        self._begin()
        line = await dialogs.enable(dialog, self._asking(dialog.asks), username=username, secret=secret)
        found = self._platform.mode_of(line)
        if found is None or found[0] == self.mode:
            raise DeviceFailed("the device refused the enable secret or command", kind="enable")
        self._arrive(line)

    def _asking(self, asks: _Judge) -> dialogs.Ask:
        """Sends a line of a dialog whose questions `asks` knows."""

        async def ask(sent: str, stage: str) -> str:
            self._clear()
            self._send(sent)
            return await self._answer(stage, lambda line: asks(line) or self._is_prompt(line))

        return ask

    async def run(self, command: str, *, seconds: float | None = None, limit: int | None = None) -> str:
        """Sends one command and returns what it printed, without echo and prompt (see encoding.py)."""
        self._begin()
        self._stream.limit = limit or self._limits.output_bytes
        self._send(command)
        try:
            await self._wait(
                f"after `{shown_command(command)}`",
                done=self._echo_then_prompt(command.encode()),
                when_silent=self._done_when_silent,
                seconds=seconds or self._limits.command_seconds,
            )
        except DeviceFailed as exc:
            printed = clean(bytes(self._stream.data[:_PARTIAL_BYTES])).split("\n")
            exc.partial = "\n".join(body_of(printed, command, {self.prompt}, self._platform))
            raise
        lines = clean(bytes(self._stream.data)).split("\n")
        before = self.prompt
        # Without a prompt on the last line, log lines followed it there.
        self._arrive(lines[-1] if self._is_own_prompt(lines[-1]) else self._standing_line())
        return "\n".join(body_of(lines, command, {before, self.prompt}, self._platform))

    async def _learn_prompt(self) -> None:
        """A line that looks like a prompt is one when an empty command brings the same line again."""
        candidate = await self._answer(_LOGIN, self._is_prompt)
        for _ in range(_LEARN_TRIES):
            self._clear()
            self._send("")
            again = await self._answer(_LOGIN, self._is_prompt)
            if self._platform.steady(again) == self._platform.steady(candidate):
                break
            candidate = again  # the one before was a line of the banner
            self._clear()
            if await self._stream.news(within=self._limits.quiet_seconds):
                candidate = await self._answer(_LOGIN, self._is_prompt)
        else:
            shown = quoted(candidate[-80:], self._platform)
            raise DeviceFailed(f"the prompt changes each time, at last to {shown!r}", kind="prompt")
        self._arrive(again)
        self._host = (self._platform.mode_of(candidate) or ("", ""))[1]

    def _begin(self) -> None:
        if not self._usable:
            raise DeviceFailed("the session was given up after an earlier failure", kind="lost")
        self._usable = False
        self._echoed = False
        self._clear()

    def _clear(self) -> None:
        self._stream.clear()
        self._answered = None

    def _send(self, line: str) -> None:
        self._stream.write(line + self._platform.enter)

    def _arrive(self, line: str) -> None:
        """The channel stands at a prompt: remembers it and is ready for the next command."""
        self.prompt = line.rstrip()
        found = self._platform.mode_of(self.prompt)
        self.mode = found[0] if found is not None else self.mode
        self._usable = True

    def _last_line(self) -> str:
        return visible(carried(self._stream.last_line())).rstrip()

    def _is_prompt(self, line: str) -> bool:
        return self._platform.mode_of(line) is not None

    def _is_own_prompt(self, line: str) -> bool:
        """The learned prompt, or that of another mode of the same host; config modes have many prompts."""
        if line.rstrip() == self.prompt:
            return True
        found = self._platform.mode_of(line)
        if found is None:
            return False
        if found[0] == self.mode != "config":
            return self._platform.steady(line) == self._platform.steady(self.prompt)
        return found[1].startswith(self._host[:_HOST_CHARACTERS])  # [sw1-GigabitEthernet0/0/1] of Comware

    def _echo_then_prompt(self, command: bytes) -> _Judge:
        """A prompt that was still under way when the command was sent must not end its output."""

        def judge(line: str) -> bool:
            self._echoed = self._echoed or self._echoes(command)
            return self._echoed and self._is_own_prompt(line)

        return judge

    def _echoes(self, command: bytes) -> bool:
        """Whether the command has come back, if need be between cursor movements (RouterOS, ProCurve)."""
        if command in self._stream.data:
            return True
        return command in bytes_of(clean(bytes(self._stream.data[:_ECHO_BYTES])))

    def _done_when_silent(self, ticks: int) -> bool:
        """Whether a silent device is done although its last line is not the prompt after our echo."""
        if not self._echoed and ticks < self._echo_ticks:
            return False
        if not self._is_own_prompt(self._standing_line()):
            return False
        if not self._echoed:
            self._echo_ticks = 1  # it echoes nothing: do not wait for that again
        return True

    def _standing_line(self) -> str:
        """The line that the device stopped at: the last one that is no log line printed after it."""
        for line in reversed(clean(bytes(self._stream.data)).split("\n")):
            if line.strip() and not self._platform.is_log_line(line):
                return line.rstrip()
        return ""

    async def _answer(self, stage: str, done: _Judge) -> str:
        """The line that ends a step of a dialog."""

        def when_silent(ticks: int) -> bool:
            return done(self._standing_line())

        await self._wait(stage, done=done, when_silent=when_silent, seconds=self._limits.prompt_seconds)
        return self._standing_line()

    async def _wait(self, stage: str, *, done: _Judge, when_silent: _WhenSilent, seconds: float) -> None:
        """Reads until `done` accepts the last line or `when_silent` the silence; answers pagers meanwhile."""
        ticks = 0
        try:
            async with asyncio.timeout(seconds):
                while not self._reached(stage, done):
                    if await self._stream.news(within=self._limits.quiet_seconds):
                        ticks = 0
                        continue
                    ticks += 1
                    if self._answer_login():
                        continue
                    self._refuse_question(stage)
                    if when_silent(ticks):
                        return
        except TimeoutError as exc:
            text = f"no prompt within {seconds:g} s {stage} ({len(self._stream.data)} bytes came)"
            raise DeviceFailed(text, kind="timeout") from exc

    def _reached(self, stage: str, done: _Judge) -> bool:
        stream = self._stream
        if stream.flooded:
            stream.abort()
            text = f"more than {stream.limit} bytes came {stage}"
            raise DeviceFailed(text, kind="flood")
        raw = carried(stream.last_line())
        if done(visible(raw)):
            return True
        if stream.ended:
            text = f"the connection dropped {stage} ({len(stream.data)} bytes came)"
            raise DeviceFailed(text, kind="lost")
        self._answer_device(without_escapes(raw))
        return False

    def _answer_device(self, raw: str) -> None:
        """A pager waits while its text is the very end of what came; each one is answered once."""
        position = self._stream.data.rfind(b"\n")
        if position == self._answered:
            return
        key = self._key_for(raw.rstrip("\r").rpartition("\r")[2])
        if key is not None:
            self._answered = position
            self._stream.write(key)

    def _key_for(self, line: str) -> str | None:
        """What a line waits for, if it is known to wait."""
        platform = self._platform
        if any(pattern.search(line) for pattern in platform.pager_end):
            return platform.pager_end_key
        if any(pattern.search(line) for pattern in platform.pager):
            return platform.pager_key
        return self._login_answer(line)

    def _login_answer(self, line: str) -> str | None:
        for item in self._login_answers:
            if item.pattern.search(line):
                self._login_answers.remove(item)
                return item.answer
        return None

    def _answer_login(self) -> bool:
        """A question of the login that ends with a line feed: only silence tells that the device waits."""
        answer = self._login_answer(self._standing_line()) if self._login_answers else None
        if answer is None:
            return False
        self._stream.write(answer)
        return True

    def _refuse_question(self, stage: str) -> None:
        if self._answered == self._stream.data.rfind(b"\n"):
            return  # it was answered; the device takes its time
        line = self._last_line().strip()
        if self._platform.is_question(line):
            asked = quoted(line[-120:], self._platform)
            text = f"the device asks {asked!r} {stage}; a person has to answer that"
            raise DeviceFailed(text, kind="prompt")
