"""A simulated Cisco IOS switch: its command line, and a made-up but real-looking `show running-config`."""

from netautod.testing.devices.cli_script import CliScript, ModeChange, PagerScript, ScriptedCommand


def ios_config(
    hostname: str,
    interfaces: int = 24,
    *,
    changed_at: str = "06:44:12 UTC Sat Nov 21 2026 by admin",
    clock_period: int = 36028797,
    enable_hash: str = "$1$mERr$hx5rVt7rPNoS4wqbXKX7m0",
    community: str = "s1mulated",
) -> str:
    r"""Return the whole output of the command: head lines, configuration and `end`, with `\n` line ends.

    The noise of a real device is in it (`Current configuration : N bytes`, `! Last configuration change at`,
    `ntp clock-period`), and secrets of several types. 24 interfaces give about 4 KB.
    """
    body = "\n".join(
        [
            "!",
            f"! Last configuration change at {changed_at}",
            f"! NVRAM config last updated at {changed_at}",
            "!",
            *_global_lines(hostname, enable_hash),
            *(line for number in range(1, interfaces + 1) for line in _interface(number)),
            *_services(community),
            f"ntp clock-period {clock_period}",
            "ntp server 192.0.2.123",
            "end",
        ]
    )
    return f"Building configuration...\n\nCurrent configuration : {len(body)} bytes\n{body}\n"


def _global_lines(hostname: str, enable_hash: str) -> list[str]:
    return [
        "version 15.2",
        "no service pad",
        "service timestamps debug datetime msec",
        "service timestamps log datetime msec",
        "service password-encryption",
        "!",
        f"hostname {hostname}",
        "!",
        "boot-start-marker",
        "boot-end-marker",
        "!",
        f"enable secret 5 {enable_hash}",
        "!",
        "username admin privilege 15 secret 9 $9$simulated$0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
        "aaa new-model",
        "!",
        "ip domain-name example.net",
        "spanning-tree mode rapid-pvst",
        "vlan internal allocation policy ascending",
        "!",
        "ip ssh version 2",
        "!",
    ]


def _interface(number: int) -> list[str]:
    return [
        f"interface GigabitEthernet1/0/{number}",
        f" description access port {number}",
        f" switchport access vlan {10 + number % 4}",
        " switchport mode access",
        " spanning-tree portfast",
        "!",
    ]


def _services(community: str) -> list[str]:
    return [
        "interface Vlan10",
        " ip address 198.51.100.2 255.255.255.0",
        "!",
        "ip default-gateway 198.51.100.1",
        "no ip http server",
        "logging host 192.0.2.50",
        f"snmp-server community {community} RO",
        "snmp-server location simulated",
        "tacacs-server host 192.0.2.60 key 7 0822455D0A16",
        "!",
        "banner motd ^C",
        "Authorized access only.",
        "^C",
        "!",
        "line con 0",
        "line vty 0 4",
        " password 7 13061E010803",
        " transport input ssh",
        "!",
    ]


def ios_script() -> CliScript:
    """Return prompts, enable dialog, pager and refusals as a Catalyst 2960 shows them."""
    return CliScript(
        prompts={"exec": "{host}>", "privileged": "{host}#", "config": "{host}(config)#"},
        mode="privileged",
        unprivileged="exec",
        changes=(
            ModeChange(
                command="enable",
                to="privileged",
                modes=("exec",),
                password_prompt="Password: ",
                refusal="% Bad secrets\n\n",
            ),
            ModeChange(command="enable", to="privileged", modes=("privileged",)),
            ModeChange(command="disable", to="exec"),
            ModeChange(
                command=r"conf(ig(ure)?)? t(erminal)?",
                to="config",
                modes=("privileged",),
                output="Enter configuration commands, one per line.  End with CNTL/Z.\n",
            ),
            ModeChange(command="end|exit", to="privileged", modes=("config",)),
        ),
        commands=(
            ScriptedCommand(command=r"sho?w? run(ning-config)?", modes=("privileged",)),
            ScriptedCommand(
                command="show version",
                output="Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E3, "
                "RELEASE SOFTWARE\n",
            ),
        ),
        ignored=(r"terminal width \d+",),
        unknown="% Invalid input detected at '^' marker.\n\n",
        drifting=r"^ntp clock-period (\d+)",
        log_line="*Nov 21 06:45:01.123: %LINK-3-UPDOWN: Interface Gi1/0/7, changed state to up\n",
        pager=PagerScript(
            text=" --More-- ",
            # The cursor is back in the first column before the next line is printed.
            erase="\b" * 9 + " " * 8 + "\b" * 9,
            off=(r"terminal length (\d+)",),
        ),
    )
