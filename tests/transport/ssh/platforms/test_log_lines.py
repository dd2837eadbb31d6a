"""Log lines that a device prints into a session: in every maker's form, wherever they tear the output."""

from dataclasses import replace

import asyncssh
import pytest

from netautod.testing import Faults
from netautod.transport.ssh.capture.configuration import Capture, capture
from netautod.transport.ssh.capture.log_interference import common_lines
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import PlatformFixture, load_all
from tests.support.tables import over

_REGISTRY = PlatformRegistry()
_LOGIN = Login(username="admin", password="simulated", enable_secret="en4ble")
_LIMITS = SessionLimits(
    login_seconds=30, prompt_seconds=30, command_seconds=60, capture_seconds=60, quiet_seconds=0.1
)
_LOG = "*Nov 21 06:45:01: %LINK-3-UPDOWN: Interface Gi1/0/7, changed state to up"
_LATER = _LOG.replace(":01", ":09")
_FIXTURES = {
    one.platform: one
    for one in load_all()
    if one.script is not None and one.script.log_line and _REGISTRY.get(one.platform).channel == "shell"
}
_SAMPLE = ("cisco_ios", "cisco_xr", "juniper_junos", "huawei_vrp", "extreme_exos", "generic")
_FORMS = (
    ("cisco_ios", "*Mar  1 18:48:50.483 UTC: %SYS-5-CONFIG_I: Configured from console by vty2"),
    ("cisco_ios", "000123: Nov 21 06:44:12: %LINEPROTO-5-UPDOWN: Line protocol on Interface Vlan1"),
    ("cisco_ios", "2w3d: %LINK-3-UPDOWN: Interface Vlan1, changed state to down"),
    ("cisco_ios", "%LINK-3-UPDOWN: Interface GigabitEthernet1/0/7, changed state to up"),
    ("cisco_xr", "RP/0/RSP0/CPU0:Jun  1 12:00:00.123 UTC: ifmgr[252]: %PKT_INFRA-LINK-3-UPDOWN : x"),
    ("cisco_nxos", "2026 Nov 21 06:45:01 sw1 %$ VDC-1 %$ %ETHPORT-5-IF_UP: Interface Ethernet1/7 is up"),
    ("cisco_asa", "%ASA-4-411002: Line protocol on Interface GigabitEthernet1/7, changed state to down"),
    ("cisco_asa", "Nov 21 2026 06:45:01: %ASA-5-111008: User 'admin' executed the 'show' command."),
    ("cisco_wlc", "*spamApTask0: Nov 21 06:45:01.123: %CAPWAP-3-DTLS_CONN_ERR: capwap_ac.c:934"),
    ("cisco_s300", "21-Nov-2026 06:45:01 :%LINK-I-Up:  gi1/0/7"),
    ("cisco_viptela", "Nov 21 06:45:01 vedge1 OMPD[1234]: %Viptela-vedge1-OMPD-5-NTCE-400002: vSmart is up"),
    ("arista_eos", "Nov 21 06:45:01 leaf1 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet7"),
    ("arista_eos", "2026-11-21T06:45:01.123456+00:00 leaf1 ConfigAgent: %SYS-5-CONFIG_E: Enter"),
    ("huawei_vrp", "#Jun  1 2026 12:00:00 sw1 IFNET/4/IF_STATE(l)[0]:Interface Vlanif10 is UP."),
    ("huawei_vrp", "Apr 16 2024 03:38:37-08:00 sw1 %%01IFNET/4/LINK_STATE(l)[1]:The line protocol is UP."),
    ("hp_comware", "%Jun  1 12:00:00:123 2026 sw1 SHELL/5/SHELL_LOGIN: admin logged in from 192.0.2.4"),
    ("hp_procurve", "I 11/21/26 06:45:01 00076 ports: port 1 is now on-line"),
    ("hp_procurve", "W 11/21/26 06:45:01 00331 FFI: port 7-High collision or drop rate."),
    ("juniper_junos", "Nov 21 06:45:01  pe1 mgd[1234]: UI_COMMIT: User 'admin' requested 'commit'"),
    ("juniper_junos", "Message from syslogd@pe1 at Nov 21 06:45:01  ..."),
    ("mikrotik_routeros", "06:45:01 echo: system,info,account user admin logged in from 192.0.2.4 via ssh"),
    ("mikrotik_routeros", "(jan/02/2026 06:45:01 echo: system,error,critical login failure for user x"),
    ("extreme_exos", "11/21/2026 06:45:01.12 <Noti:vlan.msgs.portLinkStateUp> Port 7 link UP"),
    ("extreme_vsp", "CP1 [11/21/26 06:45:01.123] 0x00004595 00000000 GlobalRouter HW INFO Link Up(1/7)"),
    ("fortinet", 'date=2026-11-21 time=06:45:01 devname="fw1" devid="FG100E" logid="0100032001"'),
    ("nokia_sros", "12 2026/11/21 06:45:01.12 UTC WARNING: SNMP #2004 Base 1/1/7"),
    ("ruckus_fastiron", "SYSLOG: <14>Nov 21 06:45:01 sw1 System: Interface ethernet 1/1/7, state up"),
    ("dell_os9", "Nov 21 06:45:01 sw1 %IFMGR-5-OSTATE_UP: Changed interface state to up"),
    ("dell_os10", "<165>1 2026-11-21T06:45:01.123456+00:00 tor1 dn_alm 813 - - Node.1-Unit.1:PRI [event]"),
    ("dell_powerconnect", "21-Nov-2026 06:45:01 %LINK-W-Down:  gi1/0/7"),
    ("dell_sonic", "2026 Nov 21 06:45:01.123456 sonic INFO swss#orchagent: :- set: port up"),
    (
        "brocade_fos",
        "2026/11/21-06:45:01 (GMT), [SEC-1203], 42, INFO, sw1, Login information: Login successful",
    ),
    ("brocade_nos", "2026/11/21-06:45:01, [NSM-1003], 4242, SW/0 | Active, INFO, sw5, link is down."),
    ("ciena_saos", "Sat Nov 21 06:45:01.123 2026 [local] Sev:8 port(1): :Port 7 link up"),
    ("eltex", "21-Nov-2026 06:45:01 %LINK-W-Down:  gi1/0/7"),
    ("eltex_esr", "2026-11-21T06:45:01+01:00 %LINK-W-DOWN: gigabitethernet 1/0/7 changed state to down"),
    ("allied_telesis_awplus", "06:45:01 awp1 NSM[414]: Port down notification received for port1.0.7"),
    ("edgecore_sonic", "Broadcast message from root@leaf1 (pts/0) (Sat Nov 21 06:45:01 2026):"),
    ("cumulus", "[  123.456789] swp7: link becomes ready"),
    ("f5_tmsh", "Nov 21 06:45:01 bigip1 emerg logger[4242]: Re-starting mcpd"),
    ("ruijie_os", "*Nov 21 06:45:01: %SYS-5-CONFIG_I: Configured from console by console"),
    ("zte_zxros", "An alarm 200201 ID 1183 level 3 occurred at 06:45:01 11-21-2026 sent by MPU-0/20/0"),
    (
        "netgear_prosafe",
        "<189> Nov 21 06:45:01 sw1-1 TRAPMGR[trapTask]: traputil.c(721) 1234 %% NOTE Link Up",
    ),
)


@over(("platform", "line"), _FORMS)
def test_every_form_is_known_at_the_beginning_and_within_a_line(platform: str, line: str) -> None:
    known = _REGISTRY.get(platform)
    assert known.is_log_line(line)
    assert known.holds_log(f"interface Gig{line}")


@over("fixture", [pytest.param(one, id=one.id) for one in load_all()])
def test_no_configuration_is_taken_for_logs(fixture: PlatformFixture) -> None:
    platform = _REGISTRY.get(fixture.platform)
    assert [line for line in fixture.first.split("\n") if platform.holds_log(line)] == []


@over(
    "line", ["a:" * 2000, "12:34:56" * 500, "12:34:56 " * 500, "* " * 3000, "Nov 21 06:45:01 " + "a " * 3000]
)
def test_a_long_line_is_looked_at_in_steps_that_its_length_bounds(line: str) -> None:
    assert not _REGISTRY.get("generic").holds_log(f"{line} 12:34:56 %A")


_TEXT = ["hostname sw1", "!", "interface Gi1/0/7", " description uplink", "!", "end"]


@over(
    ("first", "second", "found"),
    [
        pytest.param([*_TEXT[:2], _LOG, *_TEXT[2:]], _TEXT, _TEXT, id="between two lines"),
        pytest.param([*_TEXT[:2], "interface", _LOG, " Gi1/0/7", *_TEXT[3:]], _TEXT, _TEXT, id="a torn line"),
        pytest.param(
            [*_TEXT[:2], f"interf{_LOG}", "ace Gi1/0/7", *_TEXT[3:]], _TEXT, _TEXT, id="glued to it"
        ),
        pytest.param([*_TEXT[:-1], f"end{_LOG}"], _TEXT, _TEXT, id="glued to the last line"),
        pytest.param(
            [*_TEXT[:2], f"interf{_LOG}", "ace Gi1/0/7", *_TEXT[3:]],
            [*_TEXT[:-1], _LATER, "end"],
            _TEXT,
            id="each reading elsewhere",
        ),
        pytest.param(
            [*_TEXT[:2], _LOG, *_TEXT[2:]],
            [*_TEXT[:2], _LATER, *_TEXT[2:]],
            _TEXT,
            id="both between two lines",
        ),
        pytest.param(
            [*_TEXT[:2], _LOG, *_TEXT[2:]],
            [*_TEXT[:2], _LOG, *_TEXT[2:]],
            [*_TEXT[:2], _LOG, *_TEXT[2:]],
            id="a quoted one is in both",
        ),
        pytest.param(
            [_TEXT[0], _LOG, *_TEXT[1:-1], f"en{_LATER}", "d"],
            [_TEXT[0], _LOG, *_TEXT[1:]],
            [_TEXT[0], _LOG, *_TEXT[1:]],
            id="a quoted one and a torn line",
        ),
        pytest.param(
            [*_TEXT[:2], f"interf{_LOG}", "ace Gi1/0/7", *_TEXT[3:]],
            [*_TEXT[:2], f"inter{_LATER}", "face Gi1/0/7", *_TEXT[3:]],
            None,
            id="the same line torn in both",
        ),
    ],
)
def test_what_two_readings_agree_on(first: list[str], second: list[str], found: list[str] | None) -> None:
    assert common_lines(first, second, _REGISTRY.get("cisco_ios")) == found


async def read(fixture: PlatformFixture, faults: Faults, *, text: str | None = None) -> Capture:
    platform = _REGISTRY.get(fixture.platform)
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with fixture.device(platform, text=text or fixture.first, host_key=key) as device:
        assert device.script is not None
        device.script = replace(device.script, drifting="")
        device.faults = faults
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN, limits=_LIMITS) as session:
            return await capture(session)


async def torn_at_many_places(fixture: PlatformFixture) -> None:
    """Print log lines in a line, at its beginning, behind its text, in the last line; and in two readings at
    two places.
    """
    text = fixture.first.rstrip("\n")
    third = text.index("\n", len(text) // 3) + 1
    half = text.index("\n", len(text) // 2)
    undisturbed = await read(fixture, Faults())
    for places in (((third + 1,),), ((third,),), ((half,),), ((len(text),),), ((third + 1,), (half,))):
        found = await read(fixture, Faults(log_at=places))
        assert found.raw == undisturbed.raw, places
        assert "log lines were taken out" in found.notes[0]


@pytest.mark.parametrize("platform", _SAMPLE)
async def test_a_torn_reading_is_repeated(platform: str) -> None:
    await torn_at_many_places(_FIXTURES[platform])


@pytest.mark.slow
@pytest.mark.parametrize("platform", sorted(set(_FIXTURES) - set(_SAMPLE)))
async def test_a_torn_reading_is_repeated_on_every_platform(platform: str) -> None:
    await torn_at_many_places(_FIXTURES[platform])


async def test_a_configuration_that_quotes_a_log_line_stays_whole() -> None:
    fixture = _FIXTURES["cisco_ios"]
    place = fixture.first.index("!\n", len(fixture.first) // 2)
    text = f"{fixture.first[:place]}banner motd ^C\n{_LOG}\nat night: {_LOG}\n^C\n{fixture.first[place:]}"
    found = await read(fixture, Faults(), text=text)
    assert found.raw.rstrip("\n") == text.rstrip("\n")
    assert found.notes == ()


async def test_a_line_that_is_torn_in_every_reading_is_no_version() -> None:
    fixture = _FIXTURES["cisco_ios"]
    place = fixture.first.index("interface ")
    with pytest.raises(DeviceFailed, match="in each reading") as caught:
        await read(fixture, Faults(log_at=((place + 3,), (place + 4,), (place + 5,))))
    assert caught.value.kind == "incomplete"
