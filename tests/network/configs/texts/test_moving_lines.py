"""Lines that are a clock or an uptime make no version on any platform; settings that hold times do."""

from netautod.network.configs.texts.normalise import normalise
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.tables import over

_KEY = b"k" * 32
_REGISTRY = PlatformRegistry()

_MOVING = """
! Time: Sat Nov 21 06:45:01 2026
!Time: Sat Nov 21 06:45:01 2026
!Time:Sat Nov 21 06:45:01 2026
# 2026-11-21 06:44:12 by RouterOS 7.16.1
# jan/02/1970 00:12:14 by RouterOS 6.49.10
# nov/21/2026 06:44:12 by RouterOS 6.49.10
! Last configuration change at 06:44:12 UTC Sat Nov 21 2026 by admin
! Last configuration change at 06:44:12 UTC Sat Nov 21 2026
! NVRAM config last updated at 06:44:12 UTC Sat Nov 21 2026 by admin
!! Last configuration change at Sat Nov 21 06:44:12 2026 by admin
!Running configuration last done at: Sat Nov 21 06:44:12 2026
! Startup-config last modified at Sat Nov 21 06:44:12 2026 by admin
## Last commit: 2026-11-21 06:44:12 UTC by admin
## Last changed: 2026-11-21 06:44:12 UTC
# Generated at 2026-11-21 06:44:12
# Generated on Sat Nov 21 06:44:12 2026
# Generated: 2026-11-21T06:44:12Z
; Generated at 2026/11/21 06:44:12
# Saved at 21-Nov-2026 06:44:12
# Exported by admin on Sat Nov 21 06:44:12 2026
! Created: 2026-11-21 06:44:12
!System Up Time : 3 days, 2 hours, 1 minutes
!System Up Time          "0 days 23 hrs 12 mins 5 secs"
!System uptime: 3 days 02:01:09
!Current SNTP Synchronized Time: Nov 21 06:44:12 2026 UTC
!Current System Time: 2026-11-21 06:44:12
! System time: 06:44:12 UTC Sat Nov 21 2026
# Date: 2026-11-21
# Time: 06:44:12
# Current date and time: 2026-11-21 06:44:12
# Uptime: 3w2d
# Uptime is 3 weeks, 2 days, 1 hour
; Date: 21/11/2026
Up Time : 3 days
Up Time: 3 days, 4:05:06
Uptime: 3 days 4 hours 5 minutes
uptime 3 days 4 hours
System Up Time: 12 days 3 hours 4 mins
System uptime is 3 weeks, 2 days, 1 hour, 5 minutes
sw1 uptime is 3 weeks, 2 days, 1 hour, 5 minutes
Up since 2026-11-01 00:00:01
up since Sat Nov 21 06:44:12 2026
running since 2026-11-01 00:00:01
System Time: 2026-11-21 06:44:12
System time: Sat Nov 21 06:44:12 2026
Current time: 2026-11-21 06:44:12
Current Time : Sat Nov 21 06:44:12 UTC 2026
Local time: 2026-11-21 06:44:12 UTC
Current date/time: 2026-11-21 06:44:12
Sat Nov 21 06:45:01.123 UTC
Sat Nov 21 06:45:01 2026
2026-11-21 06:45:01
2026-11-21 06:45:01+01:00
2026-11-21T06:45:01Z
# Sat Nov 21 06:45:01 2026
""".strip().split("\n")
_COUNTERS_OF_GENERIC = """
Processes: 214
Total processes: 214
Free memory: 123456 KB
! Free memory: 123456 KB
Used memory: 12 %
Memory usage: 12.5 %
CPU load: 3%
CPU utilization: 5 %
Temperature: 45 C
Chassis temperature: 45.5 C
Load average: 0.10 0.20 0.30
""".strip().split("\n")
_SETTINGS = """
clock timezone UTC 0 0
clock timezone CET 1
clock summer-time CEST recurring last Sun Mar 2:00 last Sun Oct 3:00
clock summer-time CEST date Mar 29 2026 2:00 Oct 25 2026 3:00
 exec-timeout 10 0
ntp server 192.0.2.123
ntp update-calendar
 at 03:00
at 03:00
 periodic daily 8:00 to 18:00
 absolute start 08:00 01 January 2026 end 18:00 31 December 2026
kron occurrence backup at 3:00 recurring
 time 03:00
 time: 03:00
time 06:00
 start-time 03:00:00
/system scheduler add interval=1d name=backup start-date=2026-11-21 start-time=03:00:00
 accept-lifetime 00:00:00 Jan 1 2026 infinite
 send-lifetime 00:00:00 Jan 1 2026 23:59:59 Dec 31 2026
    set time-zone 26
    set start 08:00
    set day monday tuesday
    set last-update-days 3
system uptime-threshold 5
 description uptime 99 percent
 description Time: 06:44:12
hostname time-2026
set system time-zone Europe/Berlin
set system login user x class time
set schedulers scheduler s1 daily start-time 03:00 stop-time 05:00
timers bgp 10 30
 ip ospf dead-interval 40
 session-timeout 30 minutes
aging-time 300 seconds
mac address-table aging-time 300
logging synchronous
lldp holdtime 120
ip dhcp pool days 3
 lease 3 0 0
 lease time 3 days
uptime-monitor 3 days
reload at 03:00
auto-reboot 03:00
snmp-server location Time Square 3
temperature threshold 45
environment temperature 45
memory free low-watermark processor 1000
process cpu threshold type total rising 80 interval 5
processes max 200
! contact the noc until 18:00
# maintenance on 2026-11-21 by hand
# changed 2026-11-21 for the audit
 description uptime is 3 days
description uptime is 3 days
remark uptime 3 days
lease uptime 3 days
uptime days 3
 set uptime 3 days
# change 4711 of 2026-11-21
! date of contract 2026
""".strip("\n").split("\n")


@over("line", _MOVING)
def test_a_clock_or_an_uptime_is_noise_on_every_platform(line: str) -> None:
    for name in ("cisco_ios", "aruba_aoscx", "juniper_junos", "generic"):
        platform = _REGISTRY.get(name)
        text = f"hostname sw1\n{line}\nvlan 1\n"
        assert normalise(text, platform, _KEY) == "hostname sw1\nvlan 1\n", name


@over("line", _COUNTERS_OF_GENERIC)
def test_a_counter_is_noise_of_a_platform_that_is_not_known(line: str) -> None:
    assert normalise(f"hostname sw1\n{line}\n", _REGISTRY.get("generic"), _KEY) == "hostname sw1\n"


@over("line", _SETTINGS)
def test_a_setting_that_holds_a_time_or_a_number_is_none(line: str) -> None:
    for name in sorted(_REGISTRY.names()):
        if name in _OWN_RULES and line.startswith("time"):
            continue
        text = normalise(f"hostname sw1\n{line}\nvlan 1\n", _REGISTRY.get(name), _KEY)
        assert len(text.split("\n")) == 4, name


_OWN_RULES = {"zyxel_os"}  # prints its clock as `time 06:44:12`
