"""Tools for stored configurations: redacted, as all users read them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from marshmallow import fields, validate

from netautod.automation.agents.tools.contract import Calling, DeviceArguments, DeviceFinder, Tool, rows
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.schema.bases import Integer
from netautod.network.devices.service import DeviceService
from netautod.plugin_api import ToolOutcome

READ = "devices.access"
MANAGE = "devices.manage"
# Without the notes, which people write for people.
SHOWN = ("version", "created_at", "last_seen_at", "size")


class Version(Protocol):
    @property
    def version(self) -> int: ...

    def to_json(self) -> dict[str, Any]: ...


class ReadVersion(Protocol):
    @property
    def config(self) -> Any: ...

    @property
    def text(self) -> str: ...


class Diff(Protocol):
    @property
    def old(self) -> Any: ...

    @property
    def new(self) -> Any: ...

    @property
    def text(self) -> str: ...


class Configs(Protocol):
    """The methods of stored configurations that the tools use."""

    async def page(self, org_id: OrgId, device_id: str, page: Page) -> PageOf[Any]: ...

    async def read(
        self, caller: Caller, device_id: str, version: int | None, *, secrets: bool
    ) -> ReadVersion: ...

    async def diff(
        self, caller: Caller, device_id: str, old: int | None, new: int | None, *, secrets: bool
    ) -> Diff: ...


class ReadArguments(DeviceArguments):
    version = Integer(validate=validate.Range(1, 10**9), metadata={"description": "The newest if left out."})
    first_line = Integer(load_default=1, validate=validate.Range(1, 10**7))
    lines = Integer(load_default=400, validate=validate.Range(1, 2000))


class DiffArguments(DeviceArguments):
    old_version = Integer(validate=validate.Range(1, 10**9))
    new_version = Integer(validate=validate.Range(1, 10**9))


class FilterArguments(DeviceArguments):
    contains = fields.String(
        required=True,
        validate=validate.Length(min=1, max=200),
        metadata={"description": "A text that lines of the newest configuration contain, in any case."},
    )


class ConfigTools:
    def __init__(self, *, devices: DeviceService, configs: Configs) -> None:
        self._configs = configs
        self._finder = DeviceFinder(devices)

    def tools(self) -> Sequence[Tool]:
        return (
            Tool(
                name="list_configs",
                description="Lists the stored versions of a device's configuration, newest first.",
                permission=READ,
                parameters=DeviceArguments,
                run=self._list,
            ),
            Tool(
                name="read_config",
                description="Reads lines of a stored configuration. Secrets are hidden.",
                permission=READ,
                parameters=ReadArguments,
                run=self._read,
            ),
            Tool(
                name="grep_config",
                description="Finds lines of the newest stored configuration, each with its number.",
                permission=READ,
                parameters=FilterArguments,
                run=self._grep,
            ),
            Tool(
                name="diff_configs",
                description="Compares two stored versions of a device, the two newest if none are named.",
                permission=READ,
                parameters=DiffArguments,
                run=self._diff,
            ),
            Tool(
                name="pull_config",
                description="Reads the configuration from the device now and stores it if it changed.",
                permission=MANAGE,
                parameters=DeviceArguments,
                run=self._pull,
            ),
        )

    async def _list(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        found = await self._configs.page(calling.work.org_id, device.id, Page(limit=50, offset=0))
        shown = [{name: item.to_json()[name] for name in SHOWN} for item in found.items]
        return ToolOutcome(text=rows(f"{found.total} versions:", shown), source=f"versions of {device.name}")

    async def _read(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        found = await self._configs.read(_reader(calling), device.id, arguments.get("version"), secrets=False)
        lines = found.text.split("\n")
        first = arguments["first_line"]
        wanted = lines[first - 1 : first - 1 + arguments["lines"]]
        return ToolOutcome(
            text="\n".join(wanted),
            source=f"config of {device.name} v{found.config.version} ({len(lines)} lines)",
            first_line=first,
        )

    async def _grep(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        found = await self._configs.read(_reader(calling), device.id, None, secrets=False)
        wanted = arguments["contains"].lower()
        lines = enumerate(found.text.split("\n"), start=1)
        hits = [f"line {number}: {line}" for number, line in lines if wanted in line.lower()]
        source = f"lines of config of {device.name} v{found.config.version}"
        return ToolOutcome(text="\n".join(hits) or "no such line", source=source)

    async def _diff(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        found = await self._configs.diff(
            _reader(calling),
            device.id,
            arguments.get("old_version"),
            arguments.get("new_version"),
            secrets=False,
        )
        source = f"diff of {device.name} v{found.old.version} to v{found.new.version}"
        return ToolOutcome(text=found.text or "the two versions say the same", source=source)

    async def _pull(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        calling.admit(device.id)
        taken = await calling.acting.capture_config(device.id)
        result = "changed" if taken.changed else "has not changed"
        text = "\n".join([f"version {taken.version}; the configuration {result}", *taken.notes])
        return ToolOutcome(text=text, source=f"pull of {device.name}")


def _reader(calling: Calling) -> Caller:
    """Return the caller as one who sees no secrets, nor what tells of them: a model reads the result."""
    return calling.work.caller.within((READ,))
