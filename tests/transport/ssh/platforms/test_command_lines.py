"""The definitions of single platforms: prompts, log lines, refusals, and what only some command lines do."""

import pytest

from netautod.testing import SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session, refused
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import load

_REGISTRY = PlatformRegistry()
_LIMITS = SessionLimits(
    login_seconds=10, prompt_seconds=5, command_seconds=5, capture_seconds=5, quiet_seconds=0.15
)
_LOGIN = Login(username="admin", password="simulated")


@pytest.mark.parametrize(
    ("platform", "line", "expected"),
    [
        pytest.param("hp_procurve", "ProCurve Switch 2810-24G#", ("privileged", "ProCurve Switch 2810-24G")),
        pytest.param("hp_procurve", "sw1> ", ("exec", "sw1")),
        pytest.param("hp_procurve", "sw1(vlan-10)# ", ("config", "sw1")),
        pytest.param("aruba_aoscx", "OX-SW123# ", ("privileged", "OX-SW123")),
        pytest.param("aruba_aoscx", "sw1(config-if-vlan)# ", ("config", "sw1")),
        pytest.param("hp_comware", "<core-sw1>", ("exec", "core-sw1")),
        pytest.param("hp_comware", "RBM_P<fw1>", ("exec", "fw1")),
        pytest.param("hp_comware", "[sw1-GigabitEthernet1/0/1]", ("config", "sw1-GigabitEthernet1/0/1")),
        pytest.param("huawei_vrp", "<HUAWEI>", ("exec", "HUAWEI")),
        pytest.param("huawei_vrp", "HRP_M<fw1>", ("exec", "fw1")),
        pytest.param("huawei_vrp", "[~HUAWEI]", ("config", "HUAWEI")),
        pytest.param("huawei_vrp", "[*HUAWEI-10GE1/0/1]", ("config", "HUAWEI-10GE1/0/1")),
        pytest.param("huawei_vrp", "#", None),
        pytest.param("mikrotik_routeros", "[admin@MikroTik] > ", ("exec", "admin@MikroTik")),
        pytest.param("mikrotik_routeros", "[admin@core 1] /ip/address> ", ("exec", "admin@core 1")),
        pytest.param("mikrotik_routeros", "[admin@rtr] ip route<SAFE>", None),
        pytest.param("mikrotik_routeros", "[admin@rtr] ip route<SAFE>>", ("exec", "admin@rtr")),
        pytest.param("mikrotik_routeros", "[admin@MikroTik] > /export", None),
        pytest.param("vyos", "vyos@vyos:~$ ", ("exec", "vyos@vyos")),
        pytest.param("vyos", "nicolas.berens@fw1:~$", ("exec", "nicolas.berens@fw1")),
        pytest.param("vyos", "vyos@vyos# ", ("config", "vyos@vyos")),
        pytest.param("ubiquiti_edgeos", "ubnt@ubnt:~$ ", ("exec", "ubnt@ubnt")),
        pytest.param("generic", "sw-1(config-vlan)#", ("config", "sw-1")),
        pytest.param("generic", "sw-1#", ("privileged", "sw-1")),
        pytest.param("generic", "(Aruba7030) #", ("privileged", "(Aruba7030) ")),
        pytest.param("generic", "(Aruba7030) (config) #", ("config", "(Aruba7030) ")),
        pytest.param("generic", "user@host:~$", ("exec", "user@host:~")),
        pytest.param("frr", "edge1# ", ("privileged", "edge1")),
        pytest.param("frr", "edge1> ", ("exec", "edge1")),
        pytest.param("frr", "edge1(config-router-af)# ", ("config", "edge1")),
        pytest.param("frr", "edge1# show running-config", None),
        pytest.param("extreme_exos", "LAB-XOS.1 # ", ("privileged", "LAB-XOS")),
        pytest.param("extreme_exos", "* X440G2-24p-10G4.12 # ", ("privileged", "X440G2-24p-10G4")),
        pytest.param("extreme_exos", "! * (Software Update Required) sw1.7 # ", ("privileged", "sw1")),
        pytest.param("extreme_exos", "* Slot-1 stack.7 # ", ("privileged", "stack")),
        pytest.param("extreme_exos", "sw1.3 > ", ("exec", "sw1")),
        pytest.param("extreme_exos", "# Module vlan configuration.", None),
    ],
)
def test_prompts(platform: str, line: str, expected: tuple[str, str] | None) -> None:
    assert _REGISTRY.get(platform).mode_of(line) == expected


def test_prompts_of_exos_differ_in_number_and_star_only() -> None:
    steady = _REGISTRY.get("extreme_exos").steady
    assert steady("sw1.3 # ") == steady("* sw1.14 # ") == steady("! * sw1.15 # ")
    assert steady("sw1.3 # ") != steady("sw2.3 # ")


@pytest.mark.parametrize(
    ("platform", "line"),
    [
        ("hp_comware", "%Aug 28 19:53:40:379 2018 sw1 SHELL/5/SHELL_LOGIN: admin logged in from 192.0.2.4"),
        ("hp_comware", "%Sep  1 17:06:17:431 2026 PE 1 SHELL/5/SHELL_LOGIN: Console logged in"),
        (
            "huawei_vrp",
            "Apr 16 2024 03:38:37-08:00 Huawei %%01IFNET/4/LINK_STATE(l)[1]:The line protocol is UP.",
        ),
        ("huawei_vrp", "Jan 11 2021 22:20:40-08:00 SW3 %%01IFNET/4/IF_STATE(l)[0]:Interface Vlanif10 is UP."),
        (
            "mikrotik_routeros",
            "06:45:01 echo: system,error,critical login failure for user x from 192.0.2.4 via ssh",
        ),
        ("extreme_exos", "11/21/2026 06:45:01.12 <Noti:vlan.msgs.portLinkStateUp> Port 7 link UP"),
    ],
)
def test_log_lines(platform: str, line: str) -> None:
    assert _REGISTRY.get(platform).is_log_line(line)


@pytest.mark.parametrize(
    ("platform", "line"),
    [
        ("hp_procurve", "Invalid input: system-information"),
        ("aruba_aoscx", "Invalid input: foo"),
        ("hp_comware", " % Unrecognized command found at '^' position."),
        ("huawei_vrp", "Error: Unrecognized command found at '^' position."),
        ("huawei_vrp", "Error:Too many parameters found at '^' position."),
        ("huawei_vrp", "Error: You do not have permission to run the command or the command is incomplete."),
        ("mikrotik_routeros", "bad command name terse (line 1 column 9)"),
        ("mikrotik_routeros", "expected end of command (line 1 column 15)"),
        ("mikrotik_routeros", "not enough permissions (9)"),
        ("vyos", "  Invalid command: [show]"),
        ("ubiquiti_edgeos", "-vbash: show: command not found"),
        ("extreme_exos", "%% Invalid input detected at '^' marker."),
        ("frr", "% [ZEBRA] Unknown command: show everything"),
        ("frr", "% Unknown command: show everything"),
        ("frr", "% Command incomplete: show"),
        ("frr", "% Ambiguous command."),
    ],
)
def test_refusals(platform: str, line: str) -> None:
    assert refused([line], _REGISTRY.get(platform)) == line.strip()


@pytest.mark.parametrize(
    ("platform", "line"),
    [
        ("huawei_vrp", "ssh server cipher aes256_ctr aes128_ctr"),
        ("vyos", "set system login user admin authentication public-keys laptop key 'AAAA'"),
        ("vyos", "set interfaces wireguard wg0 peer site2 public-key 'AAAA='"),
        ("mikrotik_routeros", "/interface wireguard peers add interface=wg1 public-key=AAAA="),
        ("hp_comware", " link-aggregation global load-sharing mode hash destination-ip"),
    ],
)
def test_what_is_no_secret(platform: str, line: str) -> None:
    assert _REGISTRY.get(platform).any_secret.match(line) is None


async def test_routeros_shows_a_plain_terminal_by_the_login_name() -> None:
    platform = _REGISTRY.get("mikrotik_routeros")
    fixture = load("mikrotik_routeros")
    assert platform.login_suffix
    async with fixture.device(platform, username="admin" + platform.login_suffix) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN, limits=_LIMITS) as session:
            assert (await capture(session)).notes == ()


async def _read_from_routeros(text: str, command: str = "/export terse show-sensitive") -> tuple[str, ...]:
    platform = _REGISTRY.get("mikrotik_routeros")
    fixture = load("mikrotik_routeros")
    device: SimulatedDevice = fixture.device(platform)
    device.responses = {command: text}
    if command != "/export terse show-sensitive":
        device.responses["/export terse show-sensitive"] = "expected end of command (line 1 column 15)\n"
    async with device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN, limits=_LIMITS) as session:
            return (await capture(session)).notes


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('#error exporting "/interface/wifi" (timeout)', id="a menu that did not answer"),
        pytest.param("#interrupted", id="an export that was interrupted"),
    ],
)
async def test_an_export_with_a_gap_is_incomplete(line: str) -> None:
    text = "# by RouterOS 7.16\n" + "/ip service set telnet disabled=yes\n" * 30
    half = len(text) // 2 // 36 * 36
    with pytest.raises(DeviceFailed) as caught:
        await _read_from_routeros(f"{text[:half]}\n{line}\n{text[half:]}")
    assert caught.value.kind == "incomplete"
    assert line.strip() in caught.value.text


_HEAD = "# 2026-11-21 06:44:12 by RouterOS 7.12.1\n"


async def test_a_menu_that_a_model_lacks_is_no_gap() -> None:
    """Accept what a virtual RouterOS says in each export."""
    text = f'{_HEAD}/system identity set name=r1\n#error exporting "/system/routerboard/mode-button"\n'
    assert await _read_from_routeros(text) == ()


async def test_version_6_is_read_without_the_word_that_it_does_not_know() -> None:
    (note,) = await _read_from_routeros(f"{_HEAD}/system identity set name=r1\n", "/export terse")
    assert note.startswith("`/export terse` was read instead: ")
