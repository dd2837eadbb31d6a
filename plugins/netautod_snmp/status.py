"""The device itself: system group (RFC 3418), what it is, processors and memory."""

from statistics import fmean

from netautod.plugin_api import DeviceFacts
from netautod_snmp.agent import Agent, Rows, WalkFailed
from netautod_snmp.identity import read_identity
from netautod_snmp.kinds import kind_of
from netautod_snmp.values import ZERO_MAC, mac, number, text
from netautod_snmp.vendors import CISCO, VENDORS, enterprise_of

SYS_DESCR, SYS_OBJECT_ID, SYS_UP_TIME, SYS_NAME = (f"1.3.6.1.2.1.1.{number}.0" for number in (1, 2, 3, 5))
ENGINE_TIME = "1.3.6.1.6.3.10.2.1.3.0"  # snmpEngineTime, in seconds: sysUpTime turns over after 497 days
BRIDGE_ADDRESS = "1.3.6.1.2.1.17.1.1.0"  # dot1dBaseBridgeAddress
LLDP_CHASSIS_SUBTYPE, LLDP_CHASSIS = "1.0.8802.1.1.2.1.3.1.0", "1.0.8802.1.1.2.1.3.2.0"
SYSTEM = (SYS_DESCR, SYS_OBJECT_ID, SYS_UP_TIME, SYS_NAME)
PROCESSOR_LOAD = "1.3.6.1.2.1.25.3.3.1.2"  # hrProcessorLoad
STORAGE_TYPE, STORAGE_SIZE, STORAGE_USED = (f"1.3.6.1.2.1.25.2.3.1.{column}" for column in (2, 5, 6))
RAM = "1.3.6.1.2.1.25.2.1.2"  # hrStorageRam
CISCO_CPU = ("1.3.6.1.4.1.9.9.109.1.1.1.1.8", "1.3.6.1.4.1.9.9.109.1.1.1.1.5")  # cpmCPUTotal5minRev, 5min
CISCO_MEMORY_USED, CISCO_MEMORY_FREE = "1.3.6.1.4.1.9.9.48.1.1.1.5", "1.3.6.1.4.1.9.9.48.1.1.1.6"
CISCO_NEW_USED, CISCO_NEW_FREE = (
    "1.3.6.1.4.1.9.9.221.1.1.1.1.7",
    "1.3.6.1.4.1.9.9.221.1.1.1.1.8",
)  # cempMemPool
HUAWEI_CPU, HUAWEI_MEMORY = "1.3.6.1.4.1.2011.5.25.31.1.1.1.1.5", "1.3.6.1.4.1.2011.5.25.31.1.1.1.1.7"
H3C_CPU, H3C_MEMORY = "1.3.6.1.4.1.25506.2.6.1.1.1.1.6", "1.3.6.1.4.1.25506.2.6.1.1.1.1.8"
HP_CPU = "1.3.6.1.4.1.11.2.14.11.5.1.9.6.1.0"  # hpSwitchCpuStat
HP_MEMORY_TOTAL, HP_MEMORY_USED = (f"1.3.6.1.4.1.11.2.14.11.5.1.1.2.1.1.1.{column}" for column in (5, 7))
JUNIPER_CPU, JUNIPER_MEMORY = "1.3.6.1.4.1.2636.3.1.13.1.8", "1.3.6.1.4.1.2636.3.1.13.1.11"


async def read_system(agent: Agent) -> Rows:
    """Return the system group; DeviceFailed for an agent that does not answer."""
    return await agent.get(SYSTEM)


async def read_status(agent: Agent, system: Rows) -> DeviceFacts:
    """Read the facts of the device. Raises WalkFailed only where nothing at all is known."""
    enterprise = enterprise_in(system)
    descr = text(system.get(SYS_DESCR)) or ""
    kind = kind_of(enterprise, descr)
    own = await read_identity(agent, enterprise, kind, descr)
    extra = await agent.get((ENGINE_TIME, BRIDGE_ADDRESS, LLDP_CHASSIS_SUBTYPE, LLDP_CHASSIS))
    return DeviceFacts(
        sys_name=text(system.get(SYS_NAME)),
        sys_descr=descr or None,
        vendor=VENDORS.get(enterprise or 0),
        model=own.model,
        os_version=own.version,
        serial_number=own.serial,
        uptime_seconds=_uptime(number(system.get(SYS_UP_TIME)), number(extra.get(ENGINE_TIME))),
        cpu_percent=await _cpu(agent, enterprise),
        memory_percent=await _memory(agent, enterprise),
        device_type=None if kind is None else kind.device_type,
        chassis_ids=_chassis_ids(extra),
    )


def enterprise_in(system: Rows) -> int | None:
    """Return the enterprise number of the device's vendor."""
    return enterprise_of(_oid(system))


def _oid(system: Rows) -> str | None:
    value = system.get(SYS_OBJECT_ID)
    return value if isinstance(value, str) else None


def _uptime(ticks: int | None, engine_seconds: int | None) -> int | None:
    """Return the uptime in seconds. sysUpTime is in hundredths; snmpEngineTime counts where it shows that the
    first has turned over.
    """
    if ticks is None:
        return engine_seconds
    seconds = ticks // 100
    turned_over = engine_seconds is not None and engine_seconds > (1 << 32) // 100
    return engine_seconds if turned_over else seconds


def _chassis_ids(extra: Rows) -> tuple[str, ...]:
    chassis = extra.get(LLDP_CHASSIS)
    own = mac(chassis) or text(chassis)
    found = [one for one in (own, mac(extra.get(BRIDGE_ADDRESS))) if one is not None and one != ZERO_MAC]
    return tuple(dict.fromkeys(found))


async def _numbers(agent: Agent, root: str) -> list[int]:
    try:
        rows = await agent.walk(root)
    except WalkFailed:
        return []
    return [found for value in rows.values() if (found := number(value)) is not None]


async def _cpu(agent: Agent, enterprise: int | None) -> float | None:
    roots = {CISCO: CISCO_CPU, 2011: (HUAWEI_CPU,), 25506: (H3C_CPU,), 2636: (JUNIPER_CPU,)}
    for root in roots.get(enterprise or 0, ()):
        loads = [load for load in await _numbers(agent, root) if 0 <= load <= 100]
        if enterprise in (2011, 25506, 2636):
            loads = [load for load in loads if load]  # entities without a processor say 0
        if loads:
            return round(fmean(loads), 2)
    if enterprise == 11:
        load = number((await agent.get([HP_CPU])).get(HP_CPU))
        if load is not None:
            return float(load) if load <= 100 else None
    loads = [load for load in await _numbers(agent, PROCESSOR_LOAD) if 0 <= load <= 100]
    return round(fmean(loads), 2) if loads else None


async def _memory(agent: Agent, enterprise: int | None) -> float | None:
    if enterprise == CISCO:
        for used, free in ((CISCO_NEW_USED, CISCO_NEW_FREE), (CISCO_MEMORY_USED, CISCO_MEMORY_FREE)):
            taken, left = sum(await _numbers(agent, used)), sum(await _numbers(agent, free))
            if taken + left:
                return round(100 * taken / (taken + left), 2)
    direct = {2011: HUAWEI_MEMORY, 25506: H3C_MEMORY, 2636: JUNIPER_MEMORY}.get(enterprise or 0)
    if direct is not None:
        shares = [share for share in await _numbers(agent, direct) if 0 < share <= 100]
        if shares:
            return round(fmean(shares), 2)
    if enterprise == 11:
        total, used_ = sum(await _numbers(agent, HP_MEMORY_TOTAL)), sum(await _numbers(agent, HP_MEMORY_USED))
        if total:
            return round(100 * used_ / total, 2)
    return await _ram(agent)


async def _ram(agent: Agent) -> float | None:
    """Read the first storage of the type RAM."""
    try:
        types = await agent.walk(STORAGE_TYPE)
    except WalkFailed:
        return None
    index = next((index for index, value in types.items() if value == RAM), None)
    if index is None:
        return None
    values = await agent.get((f"{STORAGE_SIZE}.{index}", f"{STORAGE_USED}.{index}"))
    size, used = number(values.get(f"{STORAGE_SIZE}.{index}")), number(values.get(f"{STORAGE_USED}.{index}"))
    return None if not size or used is None else round(min(100.0, 100 * used / size), 2)
