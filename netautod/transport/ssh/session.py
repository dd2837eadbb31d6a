"""A session on one device: it opens, runs commands over a shell or exec channels, and closes promptly."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from netautod.core.errors import InvalidInput
from netautod.core.work.guard import Guard, no_guard
from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.channel_opening import connected, open_channel, open_shell
from netautod.transport.ssh.connection.connect import Connection
from netautod.transport.ssh.encoding import readable, readable_output, to_bytes
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.shell.shell import Shell
from netautod.transport.ssh.shell.stream import SshStream
from netautod.transport.ssh.shell.terminal import clean, plain_lines
from netautod.transport.ssh.target import Login, OnStep, SessionLimits, Step, Target, ignore_step
from netautod.transport.ssh.telnet.connecting import TelnetConnection

REFUSAL_LINES = 5  # a refusal is the first thing that a device says
KILLED = -1  # the exit status that asyncssh gives to a command that a signal ended


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """The output of a command; `errors` and `exit_status` (`KILLED`: by a signal) need an exec channel."""

    output: str
    errors: str = ""
    exit_status: int | None = None


class CliSession:
    """A logged-in session; made by `open_session`.

    `host_key_fingerprint` is the key that the device showed (`SHA256:...`), to be pinned by the caller, None
    over telnet; `jump_host_key_fingerprints` those of the jump devices, the first one of the path first.
    """

    def __init__(
        self,
        connection: Connection | TelnetConnection,
        *,
        target: Target,
        login: Login,
        guard: Guard,
        limits: SessionLimits,
        shell: Shell | None,
        on_step: OnStep = ignore_step,
    ) -> None:
        self._connection = connection
        self._login = login
        self._guard = guard
        self._shell = shell
        self._on_step = on_step
        self.limits = limits
        self.target = target
        self.host_key_fingerprint = connection.fingerprints[-1]
        self.jump_host_key_fingerprints = connection.fingerprints[:-1]

    @property
    def platform(self) -> Platform:
        """Return what the engine knows of this kind of device."""
        return self.target.platform

    @property
    def prompt(self) -> str:
        """The prompt as the device shows it now, empty on an exec channel."""
        return "" if self._shell is None else readable(self._shell.prompt)

    @property
    def mode(self) -> str:
        """The mode of the command line (a key of `platform.prompts`), empty on an exec channel."""
        return "" if self._shell is None else self._shell.mode

    async def run(self, command: str, *, timeout: float | None = None, max_bytes: int | None = None) -> str:
        r"""Run a command and return what it printed: lines with `\n`, no echo, no prompt, no ANSI, no C1.

        `timeout` is in seconds from sending to the prompt (default: `limits.command_seconds`). An exec
        channel's error stream follows its output. InvalidInput for a command with a control character;
        DeviceFailed `timeout`, `lost`, `prompt` (the device asks a question) or `flood` (over `max_bytes`);
        `partial` holds what came before. After a failure a shell session takes no more commands.
        """
        result = await self.execute(command, timeout=timeout, max_bytes=max_bytes)
        return result.output + result.errors

    async def execute(
        self, command: str, *, timeout: float | None = None, max_bytes: int | None = None
    ) -> CommandResult:
        """Run a command as `run` does; return exit status and error stream too, where the channel
        has them.
        """
        _check_line(command)
        if self._shell is not None:
            output = readable_output(await self._shell.run(command, seconds=timeout, limit=max_bytes))
            self._on_step(Step(kind="ran", text=command, output=output))
            return CommandResult(output=output)
        result = await self.read(command, timeout=timeout, max_bytes=max_bytes)
        texts = (clean(to_bytes(text)) for text in (result.output, result.errors))
        output, errors = map(readable_output, texts)
        return replace(result, output=output, errors=errors)

    async def read(
        self,
        command: str,
        *,
        timeout: float | None = None,
        max_bytes: int | None = None,
        end_marker: re.Pattern[str] | None = None,
    ) -> CommandResult:
        """Run a read command of the platform, never one that a user typed: an empty line is sent as well.

        It proves that a prompt is no line of the output. `end_marker` is what the output ends with, where it
        does. The output carries its very bytes (see encoding.py); that of an exec channel is not taken for
        what a terminal would show. DeviceFailed as in `run`, and `pager` for one without a known answer.
        """
        started = time.monotonic()
        result = await self._read(command, timeout, max_bytes, end_marker)
        seconds = time.monotonic() - started
        self._on_step(Step(kind="ran", text=command, output=result.output, seconds=seconds))
        return result

    async def _read(
        self,
        command: str,
        timeout: float | None,
        max_bytes: int | None,
        end_marker: re.Pattern[str] | None,
    ) -> CommandResult:
        _check_line(command)
        if self._shell is not None:
            output = await self._shell.read(command, marker=end_marker, seconds=timeout, limit=max_bytes)
            return CommandResult(output=output)
        seconds = timeout or self.limits.command_seconds
        stream = SshStream(guard=self._guard, limit=max_bytes or self.limits.output_bytes)
        try:
            async with asyncio.timeout(seconds):
                return await self._execute(command, stream)
        except TimeoutError as exc:
            stream.abort()
            text = f"`{shown_command(command)}` did not end within {seconds:g} s"
            raise DeviceFailed(text, kind="timeout", partial=clean(bytes(stream.data))) from exc

    async def require_mode(self, mode: str) -> None:
        """Make sure that the command line is in this mode; DeviceFailed `enable` when that is refused."""
        if self._shell is None or self._shell.mode == mode:
            return
        # After connect commands it is not sent any more: one of them may have led to another machine.
        secret = None if self.target.connect_commands else self._login.secret_for_enable()
        await self._shell.enable(secret, username=self._login.username)
        self._on_step(Step(kind="enabled", text=self.prompt, mode=self.mode))
        if self._shell.mode != mode:
            raise DeviceFailed(
                f"the device is in mode {self._shell.mode!r}, needed is {mode!r}", kind="enable"
            )

    async def _execute(self, command: str, stream: SshStream) -> CommandResult:
        assert isinstance(self._connection, Connection)  # telnet is refused for platforms without a shell
        await open_channel(self._connection, stream, guard=self._guard, command=command)
        while not (stream.ended or stream.flooded):
            await stream.news(within=self.limits.command_seconds)
        if stream.flooded:
            stream.abort()
            text = f"`{shown_command(command)}` printed more than {stream.limit} bytes"
            raise DeviceFailed(text, kind="flood", partial=clean(bytes(stream.data)))
        if stream.exit_status is None:
            text = f"the connection dropped during `{shown_command(command)}`"
            raise DeviceFailed(text, kind="lost", partial=clean(bytes(stream.data)))
        output, errors = plain_lines(bytes(stream.data)), plain_lines(bytes(stream.errors))
        return CommandResult(output=output, errors=errors, exit_status=stream.exit_status)


def _check_line(command: str) -> None:
    if not command or any(ord(character) < 32 or ord(character) == 127 for character in command):
        raise InvalidInput("a command must be one line without control characters")


def refused(lines: list[str], platform: Platform) -> str | None:
    """Return the first of the lines that is a refusal by the device, as a failure may quote it, else None."""
    for line in lines:
        if any(pattern.search(line) for pattern in platform.failures):
            return quoted(line, platform)
    return None


def refusal_of(result: CommandResult, platform: Platform) -> DeviceFailed | None:
    """Return the failure of a command that the device did not accept: it printed a refusal first, or an exit
    status.
    """
    if result.exit_status is not None:
        status = result.exit_status
        return DeviceFailed(f"exit status {status}", kind="refused_command") if status else None
    refusal_text = refused(
        [line for line in result.output.split("\n") if line.strip()][:REFUSAL_LINES], platform
    )
    return None if refusal_text is None else DeviceFailed(refusal_text, kind="refused_command")


@asynccontextmanager
async def open_session(
    target: Target,
    login: Login,
    *,
    guard: Guard = no_guard,
    limits: SessionLimits | None = None,
    on_step: OnStep = ignore_step,
) -> AsyncIterator[CliSession]:
    """Connect, log in, learn the prompt, turn paging off and send the target's connect_commands.

    With an enable secret in the login the session goes to the privileged mode before that. `guard` is called
    directly before everything that is sent to the device (core/work/guard.py); what it raises ends the
    session and is passed on. DeviceFailed says why a device could not be opened. On any exception,
    cancellation included, the TCP connection is closed at once; otherwise within two seconds. `on_step` is
    called with each step.
    """
    limits = limits or SessionLimits()
    started = time.monotonic()
    connection = await connected(target, login, guard=guard, limits=limits, on_step=on_step)
    try:
        on_step(Step(kind="connected", text=connection.fingerprints[-1] or ""))
        on_step(Step(kind="waits", text=f"{target.host} port {target.port}: no prompt of the command line"))
        shell = await open_shell(
            connection, target.platform, login, guard=guard, limits=limits, started=started
        )
        session = CliSession(
            connection, target=target, login=login, guard=guard, limits=limits, shell=shell, on_step=on_step
        )
        on_step(Step(kind="logged_in", text=session.prompt, mode=session.mode))
        await _prepare(session, shell, login, on_step)
        yield session
    except BaseException:
        connection.abort()
        raise
    else:
        await connection.close()


async def _prepare(session: CliSession, shell: Shell | None, login: Login, on_step: OnStep) -> None:
    enable = session.platform.enable
    if shell is not None and enable is not None and login.knows_enable and shell.mode == "exec":
        await shell.enable(login.secret_for_enable(), username=login.username)
        on_step(Step(kind="enabled", text=session.prompt, mode=session.mode))
    if shell is not None:
        # After enable: an ASA knows the command in the privileged mode only.
        for command, output in await shell.turn_paging_off():
            on_step(Step(kind="ran", text=command, output=output))
    for command in session.target.connect_commands:
        output = await session.run(command)
        refusal = refused(output.split("\n"), session.platform)
        if refusal is not None:
            text = f"the connect command `{shown_command(command)}` was refused: {refusal}"
            raise DeviceFailed(text, kind="refused_command")
