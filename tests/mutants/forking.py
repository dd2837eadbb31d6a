"""A pytest that has collected its tests and runs some of them, each time in a fork of itself.

A mutant inside of functions is put into the functions that are there, so nothing is imported anew.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

NOT_POSSIBLE = 99
"""The exit code of a fork that could not take the mutant up: it has to be imported."""
Key = tuple[str, int]
"""The qualified name of a function, and which one of that name it is."""


class Forking:
    """Serves orders on a unix socket: one line of JSON each, answered by one line."""

    def __init__(self, path: str) -> None:
        self._path = path

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        with socket.socket(socket.AF_UNIX) as judge:
            judge.connect(self._path)
            with judge.makefile("rw") as lines:
                for line in lines:
                    lines.write(json.dumps(_forked(session, json.loads(line))) + "\n")
                    lines.flush()
        return True


def _forked(session: pytest.Session, order: dict[str, Any]) -> int | None:
    """The exit code; None if the fork had to be ended."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os._exit(_run(session, order))
    handle = os.pidfd_open(child)
    try:
        ended, _, _ = select.select([handle], [], [], order["limit"])
    finally:
        os.close(handle)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def _run(session: pytest.Session, order: dict[str, Any]) -> int:
    if order["path"] and not take_up(Path(order["path"]), order["before"], order["after"]):
        return NOT_POSSIBLE
    by_name = {item.nodeid: item for item in session.items}
    session.items = [by_name[name] for name in order["tests"] if name in by_name]
    for item, following in zip(session.items, [*session.items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail or session.shouldstop:
            break
    with suppress(BaseException):  # of the tests that failed; the verdict stands
        session._setupstate.teardown_exact(None)
    return 1 if session.testsfailed else 0


def take_up(path: Path, before: str, after: str) -> bool:
    """Puts the changed code into the functions that there are; False: they would have to be made anew."""
    module_names = [
        name for name, module in sys.modules.items() if getattr(module, "__file__", "") == str(path)
    ]
    if not module_names:
        return True  # whoever imports it reads the mutant
    places = {(code.co_qualname, code.co_firstlineno): key for key, code in _functions(before, path)}
    new = dict(_functions(after, path))
    old = dict(_functions(before, path))
    changed = {key for key, code in new.items() if key in old and code.co_code != old[key].co_code}
    changed |= {key for key, code in new.items() if key in old and _values(code) != _values(old[key])}
    done = False
    for found in gc.get_objects():
        if not isinstance(found, FunctionType) or found.__code__.co_filename != str(path):
            continue
        code = found.__code__
        key = places.get((code.co_qualname, code.co_firstlineno))
        if key in changed:
            try:
                found.__code__ = new[key]
            except ValueError:  # it closes over other variables now
                return False
            done = True
    return done


def _functions(source: str, path: Path) -> Iterator[tuple[Key, CodeType]]:
    seen: Counter[str] = Counter()
    for code in _codes(compile(source, str(path), "exec")):
        yield (code.co_qualname, seen[code.co_qualname]), code
        seen[code.co_qualname] += 1


def _codes(code: CodeType) -> Iterator[CodeType]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield value
            yield from _codes(value)


def _values(code: CodeType) -> tuple[object, ...]:
    """Constants, names, and those of the functions inside; without the numbers of their lines."""
    constants = [
        (_values(value), value.co_code) if isinstance(value, CodeType) else (type(value), value)
        for value in code.co_consts
    ]
    return (*constants, code.co_names, code.co_varnames, code.co_freevars)
