"""The time in which a device must have spoken and accepted the login, where a person waits for it."""

import asyncio

from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.target import Step

FEW_DEVICES = 10  # that a request for several devices may name and still is answered in that time


class AnswerLimit:
    """A limit for all steps of an opening together: the turn, the jump devices, the connection, the login.

    It is over when the device has accepted the login: a command then has its own time. `waits` notes what is
    missing at the moment, and `failure` says that. Without `seconds` there is no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.timeout = asyncio.timeout(seconds)
        self.waits("the logins before it did not end", kind="busy")

    def waits(self, missing: str, *, kind: FailureKind = "timeout") -> None:
        self._missing, self._kind = missing, kind

    def on_step(self, step: Step) -> None:
        """Follow the steps of the engine."""
        if step.kind == "waits":
            self.waits(step.text)
        elif step.kind == "logged_in":
            self.end()

    def end(self) -> None:
        if not self.timeout.expired():
            self.timeout.reschedule(None)

    def failure(self, credential_id: str | None) -> DeviceFailed:
        text = f"{self._missing} within {self.seconds:g} s"
        return DeviceFailed(text, kind=self._kind, credential_id=credential_id)
