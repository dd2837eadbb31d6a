"""The identity of a device: model, serial number and version, of the vendor's objects, sysDescr, or
ENTITY-MIB.

In this order: a vendor's own object speaks of the device alone, sysDescr of the device as it was named, and
the physical entities of a chassis, of which there may be several, or which may be without their class.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from netautod_snmp.agent import Agent, Rows, WalkFailed
from netautod_snmp.kinds import Kind
from netautod_snmp.values import by_number, number, text

ENTITY = "1.3.6.1.2.1.47.1.1.1.1"  # entPhysicalEntry (RFC 6933)
ENTITY_DESCR, ENTITY_CLASS, ENTITY_MODEL = f"{ENTITY}.2", f"{ENTITY}.5", f"{ENTITY}.13"
ENTITY_COLUMNS = {
    "model": ENTITY_MODEL,
    "serial": f"{ENTITY}.11",
    "version": f"{ENTITY}.10",
    "description": ENTITY_DESCR,
}
CHASSIS, STACK = 3, 11  # PhysicalClass
MOST_ENTITIES = 4  # more of a stack's or a chassis' say nothing else
DELL = "1.3.6.1.4.1.674.10895.3000.1.2.100"  # Dell-Vendor-MIB, productIdentification
FORTINET, PALO_ALTO = "1.3.6.1.4.1.12356", "1.3.6.1.4.1.25461.2.1.2"
# Objects of vendors, by enterprise number. `family` is a text with less than the exact model.
SCALARS: Mapping[int, Mapping[str, str]] = {
    # hpHttpMgSerialNumber, hpSwitchOsVersion
    11: {"serial": "1.3.6.1.4.1.11.2.36.1.1.2.9.0", "version": "1.3.6.1.4.1.11.2.14.11.5.1.1.3.0"},
    # productIdentificationDisplayName, productIdentificationVersion
    674: {"model": f"{DELL}.1.0", "version": f"{DELL}.4.0", "serial": f"{DELL}.8.1.2.1"},
    # swFirmwareVersion, swSsn (SW-MIB)
    1588: {"version": "1.3.6.1.4.1.1588.2.1.1.1.1.6.0", "serial": "1.3.6.1.4.1.1588.2.1.1.1.1.10.0"},
    # extremePrimarySoftwareRev, extremeSystemID (EXTREME-SYSTEM-MIB)
    1916: {"version": "1.3.6.1.4.1.1916.1.1.1.13.0", "serial": "1.3.6.1.4.1.1916.1.1.1.16.0"},
    # snAgImgVer, snChasSerNum (FOUNDRY-SN-AGENT-MIB)
    1991: {"version": "1.3.6.1.4.1.1991.1.1.2.1.11.0", "serial": "1.3.6.1.4.1.1991.1.1.1.1.2.0"},
    # hwEntitySystemModel (HUAWEI-ENTITY-EXTENT-MIB), hwDeviceEsn
    2011: {"model": "1.3.6.1.4.1.2011.5.25.31.6.5.0", "serial": "1.3.6.1.4.1.2011.5.25.188.1.1.0"},
    # svnApplianceProductName, svnVersion, svnApplianceSerialNumber (CHECKPOINT-MIB)
    2620: {
        "model": "1.3.6.1.4.1.2620.1.6.16.7.0",
        "version": "1.3.6.1.4.1.2620.1.6.4.1.0",
        "serial": "1.3.6.1.4.1.2620.1.6.16.3.0",
    },
    # jnxBoxSerialNo, jnxBoxDescr (JUNIPER-MIB)
    2636: {"serial": "1.3.6.1.4.1.2636.3.1.3.0", "family": "1.3.6.1.4.1.2636.3.1.2.0"},
    # sysPlatformInfoMarketingName, sysProductVersion, sysGeneralChassisSerialNum (F5-BIGIP-SYSTEM-MIB)
    3375: {
        "model": "1.3.6.1.4.1.3375.2.1.3.5.2.0",
        "version": "1.3.6.1.4.1.3375.2.1.4.2.0",
        "serial": "1.3.6.1.4.1.3375.2.1.3.3.3.0",
    },
    # fgSysVersion, fnSysSerial
    12356: {"version": f"{FORTINET}.101.4.1.1.0", "serial": f"{FORTINET}.100.1.1.1.0"},
    # wlsxSysExtModelName, wlsxSysExtSerialNumber (WLSX-SYSTEMEXT-MIB)
    14823: {"model": "1.3.6.1.4.1.14823.2.2.1.2.1.3.0", "serial": "1.3.6.1.4.1.14823.2.2.1.2.1.29.0"},
    # mtxrBoardName, mtxrLicVersion, mtxrSerialNumber (MIKROTIK-MIB)
    14988: {
        "model": "1.3.6.1.4.1.14988.1.1.7.9.0",
        "version": "1.3.6.1.4.1.14988.1.1.4.4.0",
        "serial": "1.3.6.1.4.1.14988.1.1.7.3.0",
    },
    # panSysSwVersion, panSysSerialNumber (PAN-COMMON-MIB)
    25461: {"version": f"{PALO_ALTO}.1.1.0", "serial": f"{PALO_ALTO}.1.3.0"},
}
# Columns of vendors with a serial number for each entity; the first one is that of the device.
SERIALS: Mapping[int, str] = {25506: "1.3.6.1.4.1.25506.2.6.1.2.1.1.2"}  # hh3cEntityExtManuSerialNum


@dataclass(frozen=True, kw_only=True)
class Identity:
    """An identity, with None for what the device does not say."""

    model: str | None = None
    serial: str | None = None
    version: str | None = None


async def read_identity(agent: Agent, enterprise: int | None, kind: Kind | None, descr: str) -> Identity:
    """Read the identity. It never fails for a walk: what cannot be read is not known."""
    own = await _scalars(agent, SCALARS.get(enterprise or 0, {}))
    entity = await _entity(agent)
    return Identity(
        model=own.get("model")
        or described(kind, descr, "model")
        or entity.get("model")
        or described(kind, entity.get("description", ""), "model")
        or own.get("family"),
        serial=own.get("serial") or await _first(agent, SERIALS.get(enterprise or 0)) or entity.get("serial"),
        # FortiOS puts the build and its date behind the version.
        version=described(kind, own.get("version", ""), "version")
        or own.get("version")
        or described(kind, descr, "version")
        or entity.get("version"),
    )


def described(kind: Kind | None, descr: str, what: str) -> str | None:
    """Return the `model` or `version` of sysDescr: the first group, and another one in brackets."""
    pattern = None if kind is None else getattr(kind, what)
    match = None if pattern is None else pattern.search(descr)
    if match is None:
        return None
    first, *others = (group.strip() for group in match.groups() if group and group.strip())
    return f"{first} ({others[0]})" if others else first


async def _scalars(agent: Agent, wanted: Mapping[str, str]) -> dict[str, str]:
    values = await agent.get(wanted.values()) if wanted else {}
    return {
        name: found
        for name, oid in wanted.items()
        if isinstance(value := values.get(oid), bytes) and (found := text(value)) is not None
    }


async def _first(agent: Agent, column: str | None) -> str | None:
    rows = {} if column is None else by_number(await _walk(agent, column))
    return next((found for _, value in sorted(rows.items()) if (found := text(value)) is not None), None)


async def _entity(agent: Agent) -> dict[str, str]:
    """Return the texts of the chassis, or the first of a stack; without classes, of the first entity with a
    model.
    """
    classes = by_number(await _walk(agent, ENTITY_CLASS))
    indexes = [
        index for wanted in (CHASSIS, STACK) for index in sorted(classes) if number(classes[index]) == wanted
    ]
    if not classes:
        models = by_number(await _walk(agent, ENTITY_MODEL) or await _walk(agent, ENTITY_DESCR))
        indexes = [index for index, value in sorted(models.items()) if text(value) is not None][:1]
    found: dict[str, str] = {}
    for index in indexes[:MOST_ENTITIES]:
        values = await agent.get(f"{column}.{index}" for column in ENTITY_COLUMNS.values())
        for name, column in ENTITY_COLUMNS.items():
            value = text(values.get(f"{column}.{index}"))
            if value is not None:
                found.setdefault(name, value)
        if {"model", "serial"} <= found.keys():
            break
    return found


async def _walk(agent: Agent, root: str) -> Rows:
    try:
        return await agent.walk(root)
    except WalkFailed:
        return {}
