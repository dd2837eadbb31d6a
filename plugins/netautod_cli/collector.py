"""The collector of the tables of one device on its command line: a refused command costs only its table."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from netautod.plugin_api import TABLES, CliReader, Collected, DeviceFacts, DeviceFailed, PollTarget, Table
from netautod_cli.offload import Offload
from netautod_cli.reads import READS, Read, Rows
from netautod_cli.records import Records
from netautod_cli.unreadable import Unreadable

COMMAND_SECONDS = 60.0
OUTPUT_BYTES = 16 * 1024 * 1024
REFUSED = "refused_command"
VENDORS = {
    "cisco_ios": "Cisco",
    "cisco_nxos": "Cisco",
    "cisco_xr": "Cisco",
    "arista_eos": "Arista",
    "juniper_junos": "Juniper",
    "huawei_vrp": "Huawei",
    "mikrotik_routeros": "MikroTik",
    "hp_procurve": "HP",
    "hp_comware": "HPE",
    "aruba_aoscx": "Aruba",
}


class CliCollector:
    """The collector of the platforms that `reads.py` lists."""

    transport: ClassVar[str] = "cli"
    tables: ClassVar[frozenset[Table]] = frozenset(TABLES)

    def __init__(self, offload: Offload) -> None:
        self._offload = offload

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        reads = READS.get(target.device_type, {})
        requested = [table for table in TABLES if table in wanted and table in reads]
        if not requested:
            return Collected()
        outputs: dict[str, str | DeviceFailed] = {}
        async with target.login() as session:
            await self._ask(
                session, [command for table in requested for command in reads[table].commands], outputs
            )
        found: dict[str, Any] = {}
        problems: dict[Table, str] = {}
        for table in requested:
            try:
                rows = await self._rows(target.device_type, reads[table], outputs)
            except Unreadable as exc:
                problems[table] = exc.text
                continue
            if table != "status":
                found[table] = rows
            elif rows:
                found[table] = _of(target.device_type, rows[0])
        return Collected(**found, problems=problems)

    async def _ask(
        self, session: CliReader, commands: list[str], outputs: dict[str, str | DeviceFailed]
    ) -> None:
        """Run each command once. A failure that is no refusal ends the session; it is raised if nothing was
        read.
        """
        for command in dict.fromkeys(commands):
            try:
                outputs[command] = await session.run(command, timeout=COMMAND_SECONDS, max_bytes=OUTPUT_BYTES)
            except DeviceFailed as exc:
                if exc.kind != REFUSED and not any(isinstance(output, str) for output in outputs.values()):
                    raise
                outputs[command] = exc
                if exc.kind != REFUSED:
                    return

    async def _rows(self, platform: str, read: Read, outputs: Mapping[str, str | DeviceFailed]) -> Rows:
        answers = [outputs.get(command) for command in read.commands]
        main = answers[0]
        if not isinstance(main, str):
            raise Unreadable("the session ended before it" if main is None else main.text)
        texts = [one if isinstance(one, str) else None for one in answers]
        rows: Rows = await self._offload.call(rows_of, platform, read.command, texts)
        return rows


def _of(platform: str, facts: DeviceFacts) -> DeviceFacts:
    return replace(facts, vendor=VENDORS.get(platform), device_type=facts.device_type or platform)


def rows_of(platform: str, command: str, texts: list[str | None]) -> Rows:
    """Parse outputs by the read of the platform that has this command; called in the process that parses.

    Whatever a device prints, one table cannot end the visit: all errors are Unreadable.
    """
    read = next(one for one in READS[platform].values() if one.command == command)
    try:
        records = [read.parse(platform, command, texts[0] or "")]
        more = [_added(read, platform, name, text) for name, text in zip(read.more, texts[1:], strict=False)]
        rows = read.rows(*records, *more)
        if read.is_filled and not rows:
            raise Unreadable(f"`{command}` prints nothing")
        return rows
    except Unreadable:
        raise
    except Exception as exc:
        raise Unreadable(f"`{command}` cannot be read ({type(exc).__name__})") from exc


def _added(read: Read, platform: str, command: str, text: str | None) -> Records | None:
    """Parse an additional output; None for what was refused, or cannot be read and adds no rows."""
    if text is None:
        return None
    try:
        return read.parse(platform, command, text)
    except Unreadable:
        if read.adds_rows:
            raise
        return None
