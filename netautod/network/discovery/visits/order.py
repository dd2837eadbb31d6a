"""The order of transports at a device, and the tables requested over each."""

from collections.abc import Collection
from dataclasses import fields, replace

from netautod.network.devices.models import Device
from netautod.plugin_api import TABLES, Collected, DeviceFacts, Table

SNMP, CLI = "snmp", "cli"


def transports_of(device: Device, *, served: Collection[str], has_agent: bool) -> list[str]:
    """Return the transports in their order: model-driven, SNMP, the command line."""
    named = device.automation_transport
    wanted = [named] if named in served and named not in (SNMP, CLI, None) else []
    wanted += [SNMP] if has_agent else []
    wanted += [CLI]
    return [transport for transport in wanted if transport is not None and transport in served]


def not_served(device: Device, served: Collection[str]) -> str | None:
    """Return the complaint about a transport that the device names and no plugin serves."""
    named = device.automation_transport
    if named is None or named in served:
        return None
    return f"{named}: no plugin serves this transport"


def missing_from(collected: Collected, wanted: Collection[Table]) -> frozenset[Table]:
    """Return the tables that were not given, which the next transport is to bring.

    Facts that the status lacks are requested by the way, never for themselves.
    """
    missing = frozenset(wanted) - collected.given
    if missing and "status" in wanted and collected.status is not None and _lacks(collected.status):
        return missing | {"status"}
    return missing


def merged(first: Collected, then: Collected, *, requested: Collection[Table]) -> Collected:
    """Return what both have given together: whole tables, and of the status each fact from the first that
    knew it.

    Of `then` no table counts that was not requested. A table's problem goes with the table's coming.
    """
    new = [table for table in TABLES if table in then.given & set(requested)]
    tables = {table: getattr(then, table) for table in new if getattr(first, table) is None}
    if first.status is not None and "status" in new:
        tables["status"] = _filled(first.status, then.status or DeviceFacts())
    given = first.given | set(tables)
    problems: dict[Table, str] = {}
    for problem in (first.problems, then.problems):
        for table, reason in problem.items():
            if table not in given:
                problems[table] = f"{problems[table]}; {reason}" if table in problems else reason
    latency = first.latency_ms if first.latency_ms is not None else then.latency_ms
    return replace(first, **tables, problems=problems, latency_ms=latency)


def _lacks(facts: DeviceFacts) -> bool:
    return any(getattr(facts, name) is None for name in ("model", "os_version", "serial_number", "sys_name"))


def _filled(facts: DeviceFacts, other: DeviceFacts) -> DeviceFacts:
    empty = {
        field.name: getattr(other, field.name)
        for field in fields(facts)
        if getattr(facts, field.name) in (None, ())
    }
    return replace(facts, **empty)
