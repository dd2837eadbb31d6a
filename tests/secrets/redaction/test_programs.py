"""Each option of each known program behind which a secret stands, whatever the secret looks like."""

from itertools import product

from netautod.secrets.redaction.commands import shown_command
from netautod.secrets.redaction.patterns import HIDDEN
from tests.support.tables import over

# Programs, what stands before the option, and the options.
TABLE = (
    ("curl", "", "-u -U -b -d -F -E --user --proxy-user --cookie --data --data-raw --json --form --cert"),
    ("curl wget http https xh ab wrk grpcurl", "", "-H --header --headers -rpc-header"),
    ("wget", "", "--post-data --body-data"),
    ("http https xh redis-cli ldappasswd wbinfo swaks", "", "-a -ap"),
    ("ab", "", "-A -P"),
    (
        "mysql mysqldump mariadb mariadb-dump sshpass mongo mongosh az racadm 7z 7za 7zr unrar rar",
        "",
        "-p -P",
    ),
    ("zip unzip", "", "-p -P"),
    ("ldapsearch ldap-modify", "", "-w -s"),
    ("snmpwalk snmpget braa onesixtyone", "", "-c -A -X -K -3k -3K -3m -3M"),
    ("smbclient smbmap rpcclient net winexe wmic cifscreds samba-tool", "", "-U -A"),
    ("ipmitool ipmi-power ipmipower sqlcmd bcp mosquitto_pub vncviewer", "", "-P -k -y -p"),
    ("lftp ncftp ncftpget ftp etcdctl influx", "", "-u --user -p"),
    ("plink pscp psftp putty", "", "-pw"),
    ("openssl", "", "-k -K -pass -passin -passout"),
    ("ssh-keygen", "", "-N -P"),
    ("docker podman helm oc cf nerdctl skopeo", "login", "-p"),
    ("docker podman helm oc cf nerdctl skopeo", "copy", "--creds"),
    ("xfreerdp xfreerdp3 wlfreerdp rdesktop", "", "/p: /gp: -p"),
)
# Of these `-p` means another thing.
OTHERS = (
    "mkdir cp mv ssh sftp nmap ps ls tar rsync netstat ss iptables ip6tables nft install dig kill top patch "
    "perl sed telnet nc ncat ping ping6 traceroute touch lsof stat df du git make tcpdump systemctl "
    "journalctl docker podman"
)
ROWS = [
    " ".join(part for part in (program, between, option) if part)
    for programs, between, options in TABLE
    for program, option in product(programs.split(), options.split())
]


@over("command", ROWS)
def test_what_stands_behind_an_option_is_hidden(command: str) -> None:
    blank = "" if command.endswith(":") else " "
    for written in (command, f"/usr/bin/{command}", f"true; {command}"):
        shown = shown_command(f"{written}{blank}zebra")
        # An option that is the beginning of another one may hide the rest of that, never more.
        assert shown.endswith(HIDDEN)
        assert "zebra" not in shown_command(f"{written}9zebra")
        assert "zebra" not in shown_command(f"{written}=9zebra")
        assert shown.removesuffix(HIDDEN).startswith(written.rpartition(" ")[0])


@over("program", OTHERS.split())
def test_options_of_programs_that_are_no_secret(program: str) -> None:
    for command in (f"{program} -p zebra", f"sudo /usr/bin/{program} -p zebra"):
        assert shown_command(command) == command
    assert shown_command(f"my{program} -p zebra") == f"my{program} -p {HIDDEN}"


@over(
    "command",
    [
        "expect",
        "keyctl",
        "ansible-vault encrypt_string",
        "sqlplus",
        "rman",
        "impdp",
        "expdp",
        "radtest",
        "radclient",
        "rclone obscure",
        "mc alias set",
        "vault login",
        "vault kv put",
        "vault write",
        "consul kv put",
        "rabbitmqctl add_user",
        "net use",
        "config mgmtuser add",
        "config netuser add",
        "create account",
        "composer config http-basic.example",
        "cat <<<",
        "snmp-server host 192.0.2.1",
        "snmp-agent target-host x securityname",
        "standby 1 authentication",
        "vrrp 1 authentication",
        "glbp 1 authentication",
        "auth",
        "priv",
        "auth md5",
        "auth sha-256",
        "priv des",
        "priv 3des",
        "priv aes",
        "hmac-sha2",
        "md5",
        "sha1",
        "set trap community",
        "set snmp community",
        "wpa_cli set_network",
    ],
)
def test_what_follows_is_hidden_without_any_option(command: str) -> None:
    assert shown_command(f"{command} zebra") == f"{command} {HIDDEN}"


@over("option", ["-u", "-U", "--user", "--username"])
@over("mark", [":", "%", ",", "/"])
def test_the_login_of_any_program_is_hidden(option: str, mark: str) -> None:
    assert shown_command(f"tool {option} bob{mark}zebra") == f"tool {option} {HIDDEN}"
    assert shown_command(f"tool {option}=bob{mark}zebra") == f"tool {option}={HIDDEN}"
    assert shown_command(f"tool {option} bob") == f"tool {option} bob"
