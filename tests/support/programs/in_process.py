"""Commands of `netautod` within the process of the tests: most of what their own costs is its imports."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from netautod.cli import entry
from tests.support.programs.service import Finished


@dataclass(frozen=True, kw_only=True)
class Commands:
    """`done = await commands("audit", "verify")`; what is logged meanwhile ends `done.err`."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    caplog: pytest.LogCaptureFixture

    async def __call__(self, *words: str, variables: Mapping[str, str] | None = None) -> Finished:
        self.capsys.readouterr()
        self.caplog.clear()
        with self.monkeypatch.context() as changed:
            changed.setattr("netautod.core.logs.setup.configure", lambda **_: None)
            for name, value in (variables or {}).items():
                changed.setenv(name, value)
            code = await asyncio.to_thread(entry.main, words)
        out, err = self.capsys.readouterr()
        return Finished(code=code, out=out, err=err + self.caplog.text)
