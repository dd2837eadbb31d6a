"""Access, edge and small-office devices: prompts, refusals, log lines, and what only some of them do."""

import asyncssh
import pytest

from netautod.testing import SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session, refused
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import load
from tests.support.tables import over

_REGISTRY = PlatformRegistry()
_LIMITS = SessionLimits(
    login_seconds=10, prompt_seconds=5, command_seconds=5, capture_seconds=5, quiet_seconds=0.15
)
_LOGIN = Login(username="admin", password="simulated")


@over(
    ("platform", "line", "expected"),
    [
        ("huawei_olt", "MA5608T>", ("exec", "MA5608T")),
        ("huawei_olt", "OLT 1#", ("privileged", "OLT 1")),
        ("huawei_olt", "MA5800-X7(config)#", ("config", "MA5800-X7")),
        ("huawei_olt", "MA5800-X7(config-if-gpon-0/1)#", ("config", "MA5800-X7")),
        ("huawei_olt", "MA5608T(diagnose)%%", ("config", "MA5608T")),
        ("huawei_olt", "#", None),
        ("huawei_olt", " #", None),
        ("zte_olt", "OLT-C320#", ("privileged", "OLT-C320")),
        ("zte_olt", "OLT-C320(config-if-gpon_olt-1/1/1)#", ("config", "OLT-C320")),
        ("zte_olt", "$", None),
        ("zte_olt", "#", None),
        ("zte_zxros", "M6000-S(config-bgp-af-ipv4-vrf)#", ("config", "M6000-S")),
        ("ruijie_os", "sw1(config-GigabitEthernet 0/1)#", ("config", "sw1")),
        ("fs_os", "S3400#", ("privileged", "S3400")),
        ("fs_os", "S3400_config_g0/1#", ("config", "S3400")),
        ("fs_os", "S3400_config#", ("config", "S3400")),
        ("fs_os", "S3400_config_line#", ("config", "S3400")),
        ("dlink_ds", "DGS-3120-24TC:admin#", ("privileged", "DGS-3120-24TC:admin")),
        ("dlink_ds", "DES-3200-28:5#", ("privileged", "DES-3200-28:5")),
        ("dlink_ds", "DES-3200-28:3#", ("exec", "DES-3200-28:3")),
        ("dlink_ds", "DGS-3120-24TC:operator#", ("exec", "DGS-3120-24TC:operator")),
        ("dlink_ds", "Switch>", ("exec", "Switch")),
        ("dlink_ds", "Switch(config-if)#", ("config", "Switch")),
        ("dlink_ds", "#-------------------------------------------------------------------", None),
        ("zyxel_os", "XGS2210# ", ("privileged", "XGS2210")),
        ("zyxel_os", "XGS2210(config-interface)# ", ("config", "XGS2210")),
        ("tplink_jetstream", "T2600G-28TS(config-if)#", ("config", "T2600G-28TS")),
        ("tplink_jetstream", "#", None),
        ("netgear_prosafe", "(M4300-28G-PoE+) >", ("exec", "M4300-28G-PoE+")),
        ("netgear_prosafe", "(M4300-28G) #", ("privileged", "M4300-28G")),
        ("netgear_prosafe", "(M4300-28G) (Config)#", ("config", "M4300-28G")),
        ("netgear_prosafe", "(M4300-28G) (Interface 1/0/1)#", ("config", "M4300-28G")),
        ("ubiquiti_edgeswitch", "(UBNT EdgeSwitch) >", ("exec", "UBNT EdgeSwitch")),
        ("ubiquiti_edgeswitch", "(UBNT EdgeSwitch) #", ("privileged", "UBNT EdgeSwitch")),
        ("ubiquiti_edgeswitch", "(sw1) (Vlan)#", ("config", "sw1")),
        ("adtran_os", "NetVanta3448(config-eth 0/1)#", ("config", "NetVanta3448")),
        ("adtran_os", "Total Access 908e>", ("exec", "Total Access 908e")),
        ("ciena_saos", "sw1> ", ("privileged", "sw1")),
        ("ciena_saos", "sw1*> ", ("privileged", "sw1")),
        ("ciena_saos", "su@sw1> ", ("privileged", "sw1")),
        ("ciena_saos", "sw1(config)# ", ("config", "sw1")),
        ("calix_axos", "E7-1# ", ("privileged", "E7-1")),
        ("calix_axos", "E7-1(config-user-admin)# ", ("config", "E7-1")),
        ("calix_b6", "b6-1(config)# ", ("config", "b6-1")),
        ("eltex", "console#", ("privileged", "console")),
        ("eltex", "MES 2324(config-if)#", ("config", "MES 2324")),
        ("eltex_esr", "esr-200# ", ("privileged", "esr-200")),
        ("eltex_esr", "esr-200(config-zone)# ", ("config", "esr-200")),
        ("eltex_esr", "esr-200(change-expired-password)# ", ("config", "esr-200")),
        ("eltex_esr", "#18", None),
        ("rad_etx", "ETX-203AX#", ("privileged", "ETX-203AX")),
        ("rad_etx", "*ETX-203AX# ", ("privileged", "ETX-203AX")),
        ("rad_etx", "ETX-2I>config>port(ethernet)# ", ("config", "ETX-2I")),
        ("rad_etx", "ETX-203AX> ", ("exec", "ETX-203AX")),
        ("rad_etx", "#  Terminal Configuration", None),
        ("supermicro_smis", "SMIS(config-if)# ", ("config", "SMIS")),
        ("casa_cmts", "casa1(config)#", ("config", "casa1")),
        ("raisecom_roap", "Raisecom(config-port*)#", ("config", "Raisecom")),
        ("yamaha", "# ", ("privileged", "")),
        ("yamaha", "rtr1> ", ("exec", "rtr1")),
        ("yamaha", "# RTX1210 Rev.14.01.42", None),
    ],
)
def test_prompts(platform: str, line: str, expected: tuple[str, str] | None) -> None:
    assert _REGISTRY.get(platform).mode_of(line) == expected


@over(
    ("platform", "line"),
    [
        ("huawei_olt", "  % Unknown command, the error locates at '^'"),
        ("huawei_olt", "  % Parameter error, the error locates at '^'"),
        ("huawei_olt", "  Failure: System is busy, please retry after a while"),
        ("huawei_olt", "Configuration console time out, please retry to log on"),
        ("zte_olt", "%Error 20203: Invalid input detected at '^' marker."),
        ("zte_olt", "%Error 140303: Invalid input detected at '^' marker."),
        ("zte_olt", "%Error 20200: Incomplete command."),
        ("zte_zxros", "% Parameter too much"),
        ("zte_zxros", "% Command not found"),
        ("ruijie_os", "% User doesn't have sufficient privilege to execute this command."),
        ("ruijie_os", "% Incomplete command."),
        ("fs_os", "% Unknown command."),
        ("fs_os", "Parameter invalid"),
        ("dlink_ds", "Available commands:"),
        ("dlink_ds", "Next possible completions:"),
        ("dlink_ds", "Ambiguous token:"),
        ("dlink_ds", "You have insufficient privilege to run this command."),
        ("dlink_ds", "% Invalid input detected at '^' marker."),
        ("zyxel_os", "Invalid command!"),
        ("zyxel_os", "% Invalid input"),
        ("tplink_jetstream", "Error: Bad command"),
        ("tplink_jetstream", "Error: Invalid parameter."),
        ("netgear_prosafe", "% Invalid input detected at '^' marker."),
        ("netgear_prosafe", "Command not found / Incomplete command. Use ? to list commands."),
        ("ubiquiti_edgeswitch", "Incorrect input! Use 'show interface <slot/port>'."),
        ("adtran_os", "%Unrecognized command"),
        ("adtran_os", "% Invalid or incomplete command"),
        ("ciena_saos", "SHELL PARSER FAILURE: 'show' - no matching entry found"),
        ("calix_axos", "syntax error: unknown command"),
        ("calix_axos", "Error: access denied"),
        ("calix_b6", "% Invalid input detected at '^' marker."),
        ("eltex", "% Unrecognized command"),
        ("eltex", "% Wrong number of parameters or invalid range, size or characters entered"),
        ("eltex", "command authorization failed"),
        ("eltex_esr", "Syntax error: Unknown command"),
        ("rad_etx", "# cli error: Invalid Command"),
        ("rad_etx", "cli error: "),
        ("rad_etx", "*****Could not find the file"),
        ("supermicro_smis", "% Invalid Command"),
        ("casa_cmts", "% Invalid input detected"),
        ("raisecom_roap", '% " show "  Unknown command.'),
        ("yamaha", "Error: Invalid command name"),
    ],
)
def test_refusals(platform: str, line: str) -> None:
    assert refused([line], _REGISTRY.get(platform)) == line.strip()


@over(
    ("platform", "line", "printed_by_itself"),
    [
        ("huawei_olt", "  ! 2[2026-11-21 06:45:01+01:00]:", True),
        ("huawei_olt", "  ALARM 2001 FAULT MAJOR 0x2e11a001 GPON", True),
        ("huawei_olt", "  DESCRIPTION :The distribute fiber is broken", True),
        ("huawei_olt", ' vlan desc 200 description "ALARM 2001"', False),
        ("zte_olt", "An alarm 2105 ID 1183 level 3 occurred at 06:45:01 11-21-2026 sent by MCP", True),
        ("zte_olt", "  description An alarm line", False),
        ("ruijie_os", "*Nov 21 06:45:01: %SYS-5-CONFIG_I: Configured from console by console", True),
        ("ruijie_os", "!Nov 21 06:45:01", False),
        ("netgear_prosafe", "<189> Nov 21 06:45:01 sw1-1 TRAPMGR[trapTask]: %% NOTE Link Up: 1/0/7", True),
        ("adtran_os", "2026.11.21 06:45:01 INTERFACE_STATUS.eth 0/7 changed state to up", True),
        ("ciena_saos", "Sat Nov 21 06:45:01.123 2026 [local] Sev:8 port(1): :Port 7 link up", True),
        ("eltex", "21-Nov-2026 06:45:01 %LINK-W-Down:  gi1/0/7", True),
        ("eltex", "clock source sntp", False),
        ("eltex_esr", "2026-11-21T06:45:01+01:00 %LINK-W-DOWN: gigabitethernet 1/0/7", True),
        ("rad_etx", "    description 2026-11-21 06:45:01 MAJOR", False),
        ("yamaha", "2026/11/21 06:45:01: LAN1: PORT7 link up (1000BASE-T Full Duplex)", True),
        ("yamaha", "schedule at 1 2026/11/21 06:45:01 * ntpdate 192.0.2.50", False),
    ],
)
def test_log_lines(platform: str, line: str, printed_by_itself: bool) -> None:
    assert _REGISTRY.get(platform).is_log_line(line) is printed_by_itself


@over(
    ("platform", "prompt", "with_unsaved_changes"),
    [("ciena_saos", "sw1> ", "sw1*> "), ("rad_etx", "etx1# ", "*etx1# ")],
)
def test_a_star_for_unsaved_changes_is_no_other_prompt(
    platform: str, prompt: str, with_unsaved_changes: str
) -> None:
    steady = _REGISTRY.get(platform).steady
    assert steady(prompt) == steady(with_unsaved_changes)
    assert steady(prompt) != steady(prompt.replace("1", "2"))


def _device(platform: str, text: str, command: str) -> SimulatedDevice:
    device = load(platform).device(_REGISTRY.get(platform))
    device.responses = {command: text}
    return device


async def _captured(device: SimulatedDevice, platform: str) -> tuple[str, tuple[str, ...]]:
    async with device:
        target = Target(host=device.host, port=device.port, platform=_REGISTRY.get(platform))
        async with open_session(target, _LOGIN, limits=_LIMITS) as session:
            taken = await capture(session)
            return taken.raw, taken.notes


@pytest.mark.parametrize(
    ("platform", "command"),
    [
        pytest.param("dlink_ds", "show config current", id="an older xStack release"),
        pytest.param("dlink_ds", "show running-config", id="the command line after Cisco's"),
        pytest.param("calix_axos", "show running-config", id="a release without nomore"),
    ],
)
async def test_another_release_answers_the_command_that_it_knows(platform: str, command: str) -> None:
    first = load(platform).first
    device = _device(platform, first, command)
    known = _REGISTRY.get(platform).capture[0].command
    assert known is not None
    device.responses[known] = load(platform).script.unknown  # type: ignore[union-attr]  # it has a script
    raw, notes = await _captured(device, platform)
    assert raw == first
    assert f"`{command}` was read instead" in notes[0]


async def test_a_menu_behind_a_command_of_an_olt_is_left_with_enter() -> None:
    """Answer the menu: `undo smart` was refused, so that the device asks for more words before it prints."""
    fixture = load("huawei_olt")
    device = fixture.device(_REGISTRY.get("huawei_olt"))
    command = "display current-configuration"
    device.responses = {command: "{ <cr>|section<K>|simple<K>||<K> }:\n\n  Command:\n" + fixture.first}
    raw, _ = await _captured(device, "huawei_olt")
    assert raw.endswith("#\nreturn\n")


@over("line", ["{ <cr>|section<K>|simple<K>||<K> }:", "{ <cr>|vlanattr<K> }:"])
def test_the_menu_waits_for_enter_and_the_pager_for_a_blank(line: str) -> None:
    platform = _REGISTRY.get("huawei_olt")
    assert any(pattern.search(line) for pattern in platform.pager_end)
    assert platform.pager_end_key == "\n"
    assert not any(pattern.search(line) for pattern in platform.pager)


@pytest.mark.parametrize("name", ["ubiquiti_unifiswitch", "opengear"])
async def test_a_linux_below_is_read_on_channels_of_its_own(name: str) -> None:
    platform, fixture = _REGISTRY.get(name), load(name)
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with fixture.device(platform, host_key=key) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN, limits=_LIMITS) as session:
            assert (await capture(session)).raw == fixture.first


@over("platform", ["zte_olt", "zte_zxros"])
@over(
    ("lines", "last"),
    [
        pytest.param(
            ["  password encrypted *21*" + "a" * 54, "b" * 20, "  status enable"],
            "  status enable",
            id="a value that goes on",
        ),
        pytest.param(
            ["  password encrypted *21*" + "a" * 54, "b" * 80, "c" * 7, "$"],
            "$",
            id="a value of three lines",
        ),
        pytest.param(
            ["  password encrypted *21*abcdef", "  status enable"],
            "  status enable",
            id="a short value",
        ),
        pytest.param(
            ["snmp-server community encrypted *31*" + "a" * 44, "bb view AllView rw", "snmp-server enable"],
            "snmp-server enable",
            id="a community that goes on",
        ),
        pytest.param(
            ["snmp-server community encrypted *31*" + "a" * 40 + " vi", "ew View rw", "snmp-server enable"],
            "snmp-server enable",
            id="a line that is cut in the word behind it",
        ),
    ],
)
def test_values_that_zte_wraps_end_where_they_end(platform: str, lines: list[str], last: str) -> None:
    found = redact("\n".join(lines), _REGISTRY.get(platform)).split("\n")
    assert found[-1] == last
    assert not any(piece in line for line in found for piece in ("aaaa", "bbbb", "cccc", "abcdef"))
