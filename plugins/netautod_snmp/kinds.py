"""The platforms by what their sysDescr says: which one it is, the version, and the model."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A platform: its vendors by enterprise number, what its sysDescr holds, and where the version is."""

    device_type: str
    vendors: frozenset[int]
    descr: re.Pattern[str]
    version: re.Pattern[str] | None = None
    model: re.Pattern[str] | None = None


def _kind(device_type: str, vendors: set[int], descr: str, version: str = "", model: str = "") -> Kind:
    return Kind(
        device_type=device_type,
        vendors=frozenset(vendors),
        descr=re.compile(descr, re.IGNORECASE),
        version=re.compile(version) if version else None,
        model=re.compile(model) if model else None,
    )


CISCO_VERSION = r"Version ([^,\s]+)"
FOUR_NUMBERS = r"(\d+\.\d+\.\d+\.\d+)"
ARUBA = r"^(?:Aruba|HPE ANW|HPE Aruba Networking)"
# The first one that fits counts. What is no exact model (a series, a stack) is none: ENTITY-MIB may know it.
KINDS = (
    _kind("cisco_xr", {9}, r"IOS[ -]XR", r"Version (\S+?)(?:\[|,|\s|$)"),
    _kind("cisco_nxos", {9}, r"NX-OS", CISCO_VERSION),
    _kind("cisco_asa", {9}, r"Adaptive Security Appliance", CISCO_VERSION),
    _kind("cisco_wlc", {9, 14179}, r"Cisco Controller"),
    _kind("cisco_ios", {9}, r"\bIOS\b", CISCO_VERSION),
    _kind("cisco_s300", {9}, r"Managed Switch|SG\d|SF\d|CBS\d", model=r"^((?:SG|SF|SX|CBS|ESW|SRW)\d\S*)"),
    _kind(
        "arista_eos",
        {30065},
        r"",
        r"EOS version (\S+)",
        r"running on an? Arista (?:Networks )?(\S+)",
    ),
    _kind("juniper_junos", {2636}, r"", r"JUNOS ([^\s,]+)", r"Inc\. (\S+)"),
    _kind("juniper_screenos", {3224}, r"", r"version (\S+)", r"^(\S+) version"),
    _kind(
        "aruba_aoscx",
        {47196},
        r"",
        r"\b([A-Z]{2}\.\d\d\.\d\d\.\d+)",
        rf"{ARUBA} (?:[A-Z]{{1,2}}\d\w* )?(\d{{4}}\w*)|{ARUBA} ([A-Z]{{1,2}}\d\w*)",
    ),
    _kind(
        "hp_procurve",
        {11},
        r"ProCurve|revision [A-Z]{1,2}\.\d|HP Stack",
        r"revision ([A-Z]{1,2}\.[\w.]+)|, ([A-Z]{1,2}\.\d[\w.]+),",
        r"\b([JR][A-Z0-9]\d{2,3}[A-Z])\b|ProCurve (\d{4}\w*)",
    ),
    _kind("aruba_os", {14823}, r"", r"Version ([\d.]+)", r"MODEL: (?:Aruba)?(\S+?)[,)]"),
    _kind(
        "hp_comware",
        {25506, 11, 43},
        r"Comware|H3C|HPE? V\d|3Com OS",
        r"Software,? Version (?:3Com OS V)?([^,\r\n]+?)(?:,? Release|\r|\n|$)",
        r"^.*Release \w+\s+(?:HPE?|H3C)\s+(.+?)\s*(?:\bSwitch\b|\bCopyright\b|$)"
        r"|^(?:HPE?|H3C|3Com)\s+(?:Switch\s+)?((?:V|S)?\d\S*)",
    ),
    _kind(
        "huawei_vrp",
        {2011},
        r"",
        r"VRP(?: \(R\))? [Ss]oftware,?\s*[Vv]ersion\s+([^\s(]+)(?:\s*\((?:\S+ )?(V\d{3}R\w+)\))?",
        r"^(?:(?:Huawei|HUAWEI|Quidway)\s+)?(?!Huawei\b)(\S+)\s+Huawei Versatile"
        r"|^.*(?:HUAWEI|Huawei|Quidway)\s+([A-Z]+\d\S*)\s*$|\((\S+)\s+V\d{3}R",
    ),
    _kind("mikrotik_routeros", {14988}, r"", r"RouterOS\s+v?(\d+\.[\d.]*\w*)", r"RouterOS (?!v?\d+\.)(\S+)"),
    _kind("fortinet", {12356}, r"", r"v(\d+\.\d+\.\d+)"),
    _kind("paloalto_panos", {25461}, r"", model=r"Networks ((?:PA|M)-\w+)\b(?! series)"),
    _kind(
        "extreme_exos",
        {1916},
        r"ExtremeXOS|Switch Engine",
        r"version (\S+)",
        r"(?:ExtremeXOS|Switch Engine) \((?!Stack\))(\S+?)\)",
    ),
    _kind("extreme_vsp", {1916, 2272}, r"VOSS|VSP", r"\((\d+\.[\d.]+)\)", r"^(\S+?)(?:-VOSS)? \("),
    _kind(
        "ruckus_fastiron",
        {1991},
        r"",
        r"IronWare Version V?(\S+)",
        r"Inc\. (?:Stacking System )?(.+?), (?:IronWare|Extended)",
    ),
    _kind("brocade_fos", {1588}, r""),
    _kind("dell_os10", {674}, r"OS10", r"OS Version: (\d[\w.]*\w)", r"System Type: (\S+)"),
    _kind("dell_os9", {6027}, r"", r"Application Software Version: (\S+)", r"Series: (\S+)"),
    _kind("dell_os6", {674}, r"", FOUR_NUMBERS, r"(?:Networking|PowerConnect) (\S+?),"),
    _kind(
        "nokia_sros", {6527}, r"TiMOS", r"TiMOS-\w-(\S+)", r"(?:ALCATEL|Alcatel-Lucent|Nokia) (.+?) Copyright"
    ),
    _kind(
        "allied_telesis_awplus",
        {207},
        r"AlliedWare Plus|AW\+",
        r"(?:AlliedWare Plus\)?(?: \(TM\))?,? (?:Version )?|AW\+ v)(\d\S*)",
    ),
    _kind("vyos", {30803, 44641}, r"", r"VyOS (\S+)"),
    _kind("zyxel_os", {890}, r"", model=r"^([A-Z]{2,}\d\S*)$"),
    _kind("f5_tmsh", {3375}, r""),
    _kind("checkpoint_gaia", {2620}, r""),
    _kind("a10", {22610}, r""),
    _kind("cumulus", {40310}, r"", r"Cumulus Linux (?:version )?(\d\S*)"),
    _kind("mellanox_mlnxos", {33049}, r"", r"SWv(\d[\w.]*)", r"^Mellanox (\S+?),"),
    _kind("eltex", {35265}, r"", model=r"^(MES\S+)"),
    _kind("raisecom_roap", {8886}, r""),
    _kind("ruijie_os", {4881}, r"", model=r"\((\S+?)\)"),
    _kind("fs_os", {52642}, r"", model=r"^([NS]\d\S*)$"),
    _kind("tplink_jetstream", {11863}, r"", model=r"\b((?:TL-S|T\d|SG\d)[\w-]*\d[\w-]*)"),
    _kind("netgear_prosafe", {4526}, r"", r", v?(\d+(?:\.\d+){2,3})", r"^([A-Z]+\d\S*)"),
    _kind("ubiquiti_edgeos", {10002, 41112}, r"EdgeOS", r"v(\d[\w.]*)"),
    _kind("ubiquiti_edgeswitch", {4413}, r"EdgeSwitch", r", (\d[\w.]*),", r"^(EdgeSwitch .+?),"),
    _kind("alcatel_aos", {800, 6486}, r"\bOS\d", r" (\d+\.\d+\.\d+[\w.]*)", r"\b(OS\d\S*)"),
    _kind("dlink_ds", {171}, r"\bD[EGX]S-\d", model=r"\b(D[EGX]S-\d\S*)"),
    _kind("ciena_saos", {6141}, r"^\d{4}", model=r"^(\d{4}\w*)"),
    _kind("adtran_os", {664}, r"NetVanta", r"Version: ([^,\s]+)", r"(NetVanta \w+)"),
    _kind("avaya_ers", {45}, r"Routing Switch", r"SW:v(\S+)", r"Routing Switch (\S+)"),
    _kind("enterasys", {5624}, r"Enterasys", r"Rev (\d[\w.]*)", r"Inc\. (\S+)"),
    _kind("zte_zxros", {3902}, r"ZXR10", r"ROS Version V(\S+)", r"(ZXR10 \d[\w-]*)"),
    _kind("linux", {8072}, r"^Linux", r"^Linux \S+ (\S+)"),
)


def kind_of(enterprise: int | None, descr: str) -> Kind | None:
    return next((kind for kind in KINDS if enterprise in kind.vendors and kind.descr.search(descr)), None)
