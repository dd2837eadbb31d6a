"""A service under test: `netautod serve` in a process of its own, with the plugin that is being written."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self
from uuid import uuid4

from pymongo import MongoClient

from netautod.store.embedded.program import tied_to_parent
from netautod.testing.services.client import ServiceClient
from netautod.testing.services.project import Project, is_installed

Sections = Mapping[str, Mapping[str, Any]]
_READY = re.compile(r"netautod ready on (https?://\S+)")
_START_SECONDS = 120.0
_STOP_SECONDS = 60.0


class NotServing(Exception):
    """The service did not start, or a command beside it failed; what it said last."""


@dataclass(kw_only=True, eq=False)
class ServiceUnderTest:
    """A service from `with` to its end on a free port of loopback, with the data of `folder`.

    `settings` are sections (`{"my_plugin": {"at_once": 3}}`; `""` for settings without one). A `project` that
    is not installed is loaded from its folder. Without a `mongodb_uri` it has a mongod of its own, else a
    database of its own there, which is dropped at the end.
    """

    folder: Path
    settings: Sections = field(default_factory=dict)
    project: Project | None = None
    mongodb_uri: str | None = None
    url: str = field(default="", init=False)
    _organizations: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    def __enter__(self) -> Self:
        self._database = f"netautod_test_{uuid4().hex}"
        self._write()
        self._log = (self.folder / "service.log").open("ab")
        self._process = subprocess.Popen(
            tied_to_parent(self._command("serve", "--port", "0"), os.getpid()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=self.folder,
            env=self._environment(),
        )
        try:
            self.url = self._until_ready(self._process.stdout)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        if self.mongodb_uri is not None:
            with MongoClient[Any](self.mongodb_uri) as client:
                client.drop_database(self._database)

    @property
    def log(self) -> str:
        """Return what the service has logged so far."""
        return (self.folder / "service.log").read_text(encoding="utf-8")

    def client(self) -> ServiceClient:
        """Return a client logged in as the administrator of a new organization."""
        name = uuid4().hex[:12]
        if self._organizations is None:
            self._organizations = self._organizations_by_line()
        made = self._organizations
        assert made.stdin is not None
        assert made.stdout is not None
        made.stdin.write(f"org-{name} admin-{name}\n".encode())
        made.stdin.flush()
        password = made.stdout.readline().decode().strip()
        if not password:
            raise NotServing(f"no organization can be made: {self.log[-4000:]}")
        return ServiceClient(url=self.url).login(f"admin-{name}", password)

    def run(self, *arguments: str) -> str:
        """Run a command of `netautod` beside the service and return what it prints. Raises NotServing if it
        fails.
        """
        done = subprocess.run(
            self._command(*arguments),
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self._environment(),
            timeout=_START_SECONDS,
        )
        if done.returncode != 0:
            raise NotServing(f"netautod {arguments[0]}: {done.stderr or done.stdout}")
        return done.stdout

    def _organizations_by_line(self) -> "subprocess.Popen[bytes]":
        flags = ("--data-dir", str(self.folder / "data"), "--config", str(self.folder / "netautod.toml"))
        command = (sys.executable, "-m", "netautod.cli.people.organizations_by_line", *flags)
        return subprocess.Popen(
            tied_to_parent(command, os.getpid()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=self.folder,
            env=self._environment(),
        )

    def _command(self, name: str, *arguments: str) -> tuple[str, ...]:
        flags = ("--data-dir", str(self.folder / "data"), "--config", str(self.folder / "netautod.toml"))
        return (sys.executable, "-m", "netautod", name, *arguments, *flags)

    def _write(self) -> None:
        given: dict[str, dict[str, Any]] = {name: dict(values) for name, values in self.settings.items()}
        if self.mongodb_uri is not None:
            given["mongodb"] = {"uri": self.mongodb_uri, "database": self._database}
        # Simulated devices and servers of the test are on this machine.
        given.setdefault("outbound", {}).setdefault("allow", ["127.0.0.1"])
        lines = [f"{key} = {_toml(value)}" for key, value in given.pop("", {}).items()]
        for section, values in given.items():
            lines += [f"[{section}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
        file = self.folder / "netautod.toml"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        file.chmod(0o600)
        if self.project is not None and not is_installed(self.project):
            self.project.write_metadata(self.folder / "installed")

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("NETAUTOD_") and name not in ("STATE_DIRECTORY", "NOTIFY_SOCKET")
        }
        installed = self.folder / "installed"
        if self.project is not None and installed.is_dir():
            path = [str(installed), str(self.project.path), kept.get("PYTHONPATH", "")]
            kept["PYTHONPATH"] = os.pathsep.join(entry for entry in path if entry)
        return kept

    def _until_ready(self, printed: IO[bytes] | None) -> str:
        assert printed is not None
        timer = threading.Timer(_START_SECONDS, self._process.kill)
        timer.start()
        try:
            for line in printed:
                ready = _READY.fullmatch(line.decode().strip())
                if ready is not None:
                    return ready[1]
        finally:
            timer.cancel()
        raise NotServing(f"the service did not start: {self.log[-4000:]}")

    def _end(self) -> None:
        if self._organizations is not None:
            _stop(self._organizations)
        _stop(self._process)
        self._log.close()


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _toml(value: Any) -> str:
    """Format a bool, number, text, path or list of texts; JSON's texts are TOML's."""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(str(value))
