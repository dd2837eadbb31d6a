"""How a simulated device misbehaves, and what it notes about logins."""

from dataclasses import dataclass
from typing import NamedTuple


class LoginAttempt(NamedTuple):
    """One credential that a client offered: the SSH method (RFC 4252 names) and whether it was accepted.

    The method is `terminal` for a password that the script asks for after the login.
    """

    method: str
    accepted: bool


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Nothing by default; assign to `SimulatedDevice.faults` at any time, new output follows it.

    `slow`: seconds between pieces of 40 bytes. `log_every`: a log line after every N lines of output.
    `log_after_prompt`: log lines follow the prompt, which is not printed again. `disconnect_after`: TCP is
    cut after that many bytes of a command's output. `stop_after`: the output stops there and the prompt
    never comes. `truncate_after`: the output stops there and the prompt does come. `question`: asked after
    the login instead of the prompt. `dirty`: ANSI colours, NUL and invalid UTF-8 in the output.
    """

    slow: float = 0.0
    log_every: int = 0
    log_after_prompt: bool = False
    disconnect_after: int | None = None
    stop_after: int | None = None
    truncate_after: int | None = None
    refuse_logins: bool = False
    hang_up_on_login: bool = False
    expired_password: bool = False
    flood: bool = False
    silent: bool = False
    question: str | None = None
    ignore_paging_off: bool = False
    no_echo: bool = False
    dirty: bool = False
