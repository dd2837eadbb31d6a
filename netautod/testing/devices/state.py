"""The settings of a simulated device, its faults, and the state of its sessions."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self

import asyncssh

from netautod.testing.devices.cli_script import CliScript
from netautod.testing.devices.echo import EchoForm


class LoginAttempt(NamedTuple):
    """A credential that a client offered: the SSH method (RFC 4252 names) and whether it was accepted.

    The method is `terminal` for a password that the script asks for after the login.
    """

    method: str
    accepted: bool


@dataclass(frozen=True, kw_only=True)
class Faults:
    """The faults of a device, none by default; assign to `SimulatedDevice.faults` at any time, new output
    follows it.

    `slow`: seconds between pieces of 40 bytes. `log_every`: a log line after every N lines of output.
    `open_to_all`: SSH asks for no login, as devices do whose terminal asks. `held`: what comes after the
    banner waits until the event is set. `log_at`: places in the first, second ... reading of a command where
    a log line is printed into it. `log_after_prompt`: log lines follow the prompt, which is not printed
    again. `disconnect_after`: TCP is cut after that many bytes of a command's output. `stop_after`: the
    output stops there and the prompt never comes. `truncate_after`: the output stops there and the prompt
    does come. `question`: printed after the login instead of the prompt. `rest_at`: the output stops at these
    places for `rest` seconds, `hold_at`: until something is typed, for `rest` seconds at most if that is not
    0. `piece`: bytes that are sent at a time. `echo`: its form, on a terminal of that many `columns`.
    `dirty`: ANSI colours, NUL and invalid UTF-8 in the output.
    """

    slow: float = 0.0
    log_every: int = 0
    log_at: tuple[tuple[int, ...], ...] = ()
    log_after_prompt: bool = False
    held: asyncio.Event | None = None
    disconnect_after: int | None = None
    stop_after: int | None = None
    truncate_after: int | None = None
    refuse_logins: bool = False
    open_to_all: bool = False
    hang_up_on_login: bool = False
    expired_password: bool = False
    flood: bool = False
    silent: bool = False
    question: str | None = None
    ignore_paging_off: bool = False
    hold_at: tuple[int, ...] = ()
    rest_at: tuple[int, ...] = ()
    rest: float = 0.0
    piece: int = 0
    echo: EchoForm = "typed"
    columns: int = 80
    dirty: bool = False


@dataclass(kw_only=True, eq=False)
class DeviceState:
    """The fields of `SimulatedDevice`, which describes them, for the parts that serve its sessions."""

    hostname: str = "sw1"
    platform: str = "cisco_ios"
    script: CliScript | None = None
    username: str = "admin"
    password: str | None = "simulated"
    authorized_key: str | None = None
    keyboard_interactive_only: bool = False
    enable_password: str | None = None
    terminal_password: str | None = None
    prompt: str = ""
    banner: str = ""
    config: str = ""
    responses: dict[str, str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    takes_lines: bool = False
    files: dict[str, str] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    latency: float = 0.0
    algorithms: Literal["modern", "compatible", "legacy"] = "modern"
    host_key: asyncssh.SSHKey | None = None
    host: str = "127.0.0.1"
    port: int = 0
    commands: list[str] = field(default_factory=list, init=False)
    answers: list[str] = field(default_factory=list, init=False)
    login_attempts: list[LoginAttempt] = field(default_factory=list, init=False)
    open_sessions: int = field(default=0, init=False)
    open_connections: int = field(default=0, init=False)
    logged: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._changed = asyncio.Event()
        self._connections: set[asyncssh.SSHServerConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def wait_until(self, condition: Callable[[Self], bool], seconds: float = 5.0) -> None:
        """Wait until the condition holds for the device; TimeoutError when it does not come true in time."""
        async with asyncio.timeout(seconds):
            while not condition(self):
                self._changed.clear()
                await self._changed.wait()

    def take_line(self, line: str) -> None:
        """Take a line of configuration: `no` removes a line, else it is put in before `end`."""
        kept = self.config.rstrip("\n").split("\n")
        if line.startswith("no "):
            kept = [one for one in kept if one.strip() != line.removeprefix("no ")]
        else:
            kept.insert(len(kept) - 1 if kept[-1] == "end" else len(kept), line)
        self.config = "\n".join(kept) + "\n"

    def note_change(self) -> None:
        """Wake `wait_until`; the parts of the device call it when a counter or a list changed."""
        self._changed.set()

    def note_connection(self, connection: asyncssh.SSHServerConnection, *, opened: bool) -> None:
        """Keep track of the TCP connections."""
        if opened:
            self._connections.add(connection)
        else:
            self._connections.discard(connection)
        self.open_connections = len(self._connections)
        self.note_change()

    def note_session(self, task: asyncio.Task[None]) -> None:
        """Keep track of the task that serves a channel, until it ends."""
        self._tasks.add(task)
        task.add_done_callback(self._session_done)
        self.open_sessions = len(self._tasks)
        self.note_change()

    def _session_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.open_sessions = len(self._tasks)
        self.note_change()
        problem = None if task.cancelled() else task.exception()
        if problem is not None:
            context = {"message": "simulated device", "exception": problem}
            task.get_loop().call_exception_handler(context)
