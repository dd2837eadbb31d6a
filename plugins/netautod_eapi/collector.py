"""The collector of tables from the command API of EOS, each by itself: a refused command costs only its
table.

JSON-RPC over HTTPS, as the chapter "Command API" of EOS's manual has it: `runCmds` of version 1, whose result
is one object for each command.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from netautod.plugin_api import TABLES, Collected, DeviceFailed, PollTarget, Table
from netautod_eapi import rows
from netautod_eapi.forms import OtherForm

PATH, PORT = "/command-api", 443
SECONDS = 60.0
OK, UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 200, 401, 403, 404


@dataclass(frozen=True, kw_only=True)
class Read:
    """A read of a table. `more` adds to what `command` says, where the switch knows it."""

    command: str
    rows: Callable[..., Any]
    more: tuple[str, ...] = ()


READS: Mapping[Table, Read] = {
    "status": Read(command="show version", rows=rows.status, more=("show hostname",)),
    "interfaces": Read(
        command="show interfaces",
        rows=rows.interfaces,
        more=("show ip interface", "show ipv6 interface", "show interfaces switchport"),
    ),
    "neighbors": Read(command="show lldp neighbors detail", rows=rows.neighbors),
    "mac": Read(command="show mac address-table", rows=rows.forwarding),
    "arp": Read(command="show arp vrf all", rows=rows.arp, more=("show ipv6 neighbors vrf all",)),
    "vlans": Read(command="show vlan", rows=rows.vlans, more=("show interfaces switchport",)),
}


class Refused(Exception):
    """The switch does not run a command; `text` is what it says."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class EapiCollector:
    """The collector of devices with `automation_transport: eapi`."""

    transport: ClassVar[str] = "eapi"
    tables: ClassVar[frozenset[Table]] = frozenset(TABLES)

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        found: dict[str, Any] = {}
        problems: dict[Table, str] = {}
        for table in TABLES:
            if table not in wanted:
                continue
            try:
                found[table] = await _table(target, READS[table])
            except (Refused, OtherForm) as exc:
                problems[table] = exc.text
            except DeviceFailed as exc:
                if not found and not problems:
                    raise
                problems[table] = exc.text
        return Collected(**found, problems=problems)


async def _table(target: PollTarget, read: Read) -> Any:
    answers: list[Any] = [await _run(target, read.command)]
    for command in read.more:
        try:
            answers.append(await _run(target, command))
        except Refused:
            answers.append(None)
        await asyncio.sleep(0)
    return read.rows(*answers)


async def _run(target: PollTarget, command: str) -> Mapping[str, Any]:
    """Run one command on the switch and return its answer. Raises Refused, OtherForm and DeviceFailed."""
    params = {"version": 1, "cmds": [command], "format": "json"}
    body = {"jsonrpc": "2.0", "method": "runCmds", "params": params, "id": "netautod"}
    reply = await target.post(PATH, body, port=PORT, seconds=SECONDS)
    if reply.status == NOT_FOUND:
        raise DeviceFailed("the command API is not enabled (404)", kind="refused")
    if reply.status in (UNAUTHORIZED, FORBIDDEN):
        raise DeviceFailed(f"the command API refuses the login ({reply.status})", kind="auth")
    if reply.status != OK:
        raise DeviceFailed(f"the command API answers with status {reply.status}", kind="lost")
    try:
        answer = json.loads(reply.body)
    except (ValueError, RecursionError) as exc:
        raise OtherForm(f"`{command}` is answered by what is no JSON") from exc
    return _result(command, answer)


def _result(command: str, answer: Any) -> Mapping[str, Any]:
    if isinstance(answer, Mapping) and isinstance(answer.get("error"), Mapping):
        raise Refused(f"`{command}`: {_error_text(answer['error'])}")
    result = answer.get("result") if isinstance(answer, Mapping) else None
    if not isinstance(result, Sequence) or len(result) != 1 or not isinstance(result[0], Mapping):
        raise OtherForm(f"`{command}` is answered in another form")
    return result[0]


def _error_text(error: Mapping[str, Any]) -> str:
    """Return the error of the command, which comes with the answers of those before it."""
    data = error.get("data")
    last = data[-1] if isinstance(data, list) and data else None
    errors = last.get("errors") if isinstance(last, Mapping) else None
    if isinstance(errors, list) and errors:
        return str(errors[0])[:200]
    return str(error.get("message"))[:200]
