"""Puts dialogs together from the forms in tests/data/dialogs, and plays them on simulated devices."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import asyncssh

from netautod.testing import Faults, LoginStep, SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.shell.terminal import visible
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import PlatformFixture, load_all, show

Form = dict[str, Any]
_FORMS = Path(__file__).parent.parent / "data" / "dialogs" / "forms.toml"
_KINDS = ("logins", "banners", "hosts", "echoes", "pagings", "deliveries")
_QUIET = 0.1
_LIMITS = SessionLimits(
    login_seconds=20,
    prompt_seconds=20,
    silence_seconds=1.5,
    command_seconds=60,
    capture_seconds=60,
    quiet_seconds=_QUIET,
    output_bytes=256 * 1024,
)
_LOGIN = Login(username="admin", password="simulated", enable_secret="en4ble")
_REGISTRY = PlatformRegistry()
_LATIN = "\udcfcr"  # as netautod.transport.ssh.encoding carries bytes that are not UTF-8


@dataclass(frozen=True, kw_only=True)
class Dialog:
    """One form of each kind on one platform; the form of the text says how it must end."""

    fixture: PlatformFixture
    login: Form
    banner: Form
    host: Form
    echo: Form
    paging: Form
    delivery: Form
    text: Form

    def __str__(self) -> str:
        forms = (self.login, self.banner, self.host, self.echo, self.paging, self.delivery)
        names = ", ".join(f"{kind[:-1]} {form['name']}" for kind, form in zip(_KINDS, forms, strict=True))
        return f"{self.fixture.platform}, {names}: {self.text['name']} ends {' or '.join(self.text['ends'])}"


@cache
def forms() -> dict[str, list[Form]]:
    """By kind; each has a name."""
    return tomllib.loads(_FORMS.read_text(encoding="utf-8"))


def dialogs() -> Iterator[Dialog]:
    """Each form of a text on each platform, among forms of the other kinds that differ from row to row."""
    known = forms()
    shells = [one for one in load_all() if one.script is not None and one.origin == "constructed"]
    for number, fixture in enumerate(shells):
        for row, text in enumerate(known["texts"]):
            at = number * len(known["texts"]) + row
            chosen = {}
            for step, kind in enumerate(_KINDS):
                fitting = [one for one in known[kind] if fixture.platform not in one.get("never_on", ())]
                chosen[kind] = fitting[(at + at // len(fitting) * step) % len(fitting)]
            login, banner, host, echo, paging, delivery = (chosen[kind] for kind in _KINDS)
            yield Dialog(
                fixture=fixture,
                login=login,
                banner=banner,
                host=host,
                echo=echo,
                paging=paging,
                delivery=delivery,
                text=text,
            )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`end` is `whole`, `changed` or the kind of the failure that `said` words."""

    end: str
    said: str
    device: SimulatedDevice

    def harm(self) -> str:
        """What no dialog may lead to: secrets where they do not belong, logins tried twice, answers given."""
        device = self.device
        typed = [line for line in device.commands if "simulated" in line or "en4ble" in line]
        tried = [attempt.method for attempt in device.login_attempts]
        twice = len(tried) > len(set(tried))
        return "; ".join(
            [
                *(["a secret was typed as a command"] if typed else []),
                *(["a login was tried twice"] if twice else []),
                *(["a question was answered"] if device.answers else []),
                *(["a failure shows a secret"] if "simulated" in self.said else []),
            ]
        )


async def play(dialog: Dialog, host_key: asyncssh.SSHKey) -> Outcome:
    """Captures from a device that behaves so."""
    platform = _REGISTRY.get(dialog.fixture.platform)
    staged = _Stage(dialog, platform)
    async with staged.device(host_key) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        try:
            async with open_session(target, _LOGIN, limits=_LIMITS) as session:
                device.faults = staged.faults(device.faults)
                found = (await capture(session)).raw
        except DeviceFailed as exc:
            return Outcome(end=exc.kind, said=exc.text, device=device)
    whole = _bare(found) == _bare(staged.text)
    return Outcome(end="whole" if whole else "changed", said=found, device=device)


class _Stage:
    """The simulated device of a dialog, and what it prints."""

    def __init__(self, dialog: Dialog, platform: Platform) -> None:
        script = dialog.fixture.script
        assert script is not None
        self._dialog = dialog
        self._platform = platform
        self._script = replace(script, drifting="")
        self._command = platform.capture[0].command or ""
        drawn = self._script.prompts[script.mode].replace("{host}", dialog.host["name"])
        self._prompt = visible(drawn.rpartition("\n")[2].replace("{count}", "0")).strip()
        lines = dialog.fixture.first.rstrip("\n").split("\n")
        self._place = len(lines) // 2
        line = dialog.text.get("line")
        self._line = self._filled(line) if line is not None else None
        if self._line is not None:
            lines.insert(self._place, self._line)
        self.text = "\n".join(lines) + ("" if dialog.text.get("unended") else "\n")

    def device(self, host_key: asyncssh.SSHKey) -> SimulatedDevice:
        dialog, text = self._dialog, self._dialog.text
        asked = any(step.wait in ("user", "password") for step in self._script.login)
        ssh = "password" if asked else dialog.login["ssh"]
        login = [*self._login_steps(ssh), *self._banner(), *self._script.login]
        device = SimulatedDevice(
            platform=dialog.fixture.platform,
            hostname=dialog.host["name"],
            script=replace(self._script, login=tuple(login)),
            keyboard_interactive_only=ssh == "keyboard",
            terminal_password="another" if text.get("stranger") else None,
            host_key=host_key,
            faults=Faults(
                open_to_all=ssh == "nothing",
                refuse_logins=bool(text.get("stranger")),
                question=self._filled(text["asks"]) if "asks" in text else None,
                ignore_paging_off=dialog.paging["name"] == "always",
                echo=dialog.echo["form"],
                columns=dialog.echo.get("columns", 80),
                piece=dialog.delivery.get("piece", 0),
            ),
        )
        show(device, self._platform, self.text)
        if text.get("nothing") or text.get("refused"):
            said = "" if text.get("nothing") else self._script.unknown
            device.responses = dict.fromkeys(device.responses, said)
        return device

    def faults(self, login: Faults) -> Faults:
        """Those that begin after the login."""
        half = len(self.text) // 2 if "stops" in self._dialog.text or "drops" in self._dialog.text else None
        return replace(
            login,
            stop_after=half if self._dialog.text.get("stops") else None,
            disconnect_after=half if self._dialog.text.get("drops") else None,
            flood=bool(self._dialog.text.get("floods")),
            piece=0 if self._dialog.text.get("floods") else login.piece,
            rest_at=tuple(self._rests()),
            rest=3 * _QUIET,
        )

    def _rests(self) -> Iterator[int]:
        before = len(self._script.before_output)
        if self._dialog.text.get("rest") and self._line is not None:
            yield before + sum(map(len, self.text.split("\n")[: self._place])) + self._place + len(self._line)
        last = self.text.rstrip("\n").rfind("\n") + 1
        rest = self._dialog.delivery.get("rest")
        if rest is not None:
            places = {"within a line": last // 2, "behind a line": self.text.find("\n", last // 2)}
            yield before + places.get(rest, last)

    def _login_steps(self, ssh: str) -> Iterator[LoginStep]:
        if ssh == "nothing":
            yield LoginStep(text=self._filled(self._dialog.login["asks"]), wait="user")
            yield LoginStep(text="Password: ", wait="password")

    def _banner(self) -> Iterator[LoginStep]:
        banner = self._dialog.banner
        if banner["text"]:
            yield LoginStep(text=self._filled(banner["text"]), wait=banner.get("waits", "nothing"))

    def _filled(self, text: str) -> str:
        words = {"host": self._dialog.host["name"], "prompt": self._prompt, "command": self._command}
        for word, value in {**words, "u": _LATIN, "long": "x" * 1500}.items():
            text = text.replace("{" + word + "}", value)
        return text


def _bare(text: str) -> list[str]:
    """Without what nobody can tell: blanks at the end of lines from those that an erased pager leaves behind.

    And an empty line at the front from the line end that a device without an echo prints.
    """
    return [line.rstrip() for line in text.strip("\n").split("\n")]
