"""Options and places of known programs behind which a secret stands without being named.

Sources: the manual pages of the programs, and the command references of the vendors.
"""

import re
from collections.abc import Iterator, Sequence

# What has to stand in a text, each behind the one before; a secret may begin where the last one ends. Steps,
# and not one expression, because that would be tried from every first step to the end of the text.
Steps = Sequence[re.Pattern[str]]

# A value that is hidden may be glued to its option, or stand behind a blank or an equals sign.
_VALUE = r"(?:\s+|=)?"
_BEFORE = r"(?:^|(?<=[\s\"'|;&(`]))"
_SEGMENT = re.compile(r"[^|;\n]+")


def _after(programs: str, *options: str) -> Steps:
    program = rf"{_BEFORE}(?:[\w./-]*/)?(?:{programs})(?:\.exe)?\b"
    *words, last = options
    return [
        re.compile(program),
        *(re.compile(rf"\s{word}\b") for word in words),
        re.compile(rf"\s[\"']?(?:{last}){_VALUE}"),
    ]


# Of programs, in one command of the line.
_OF_PROGRAMS: tuple[Steps, ...] = (
    _after("curl", "-[a-zA-Z]*[uUbdFE]|--user|--proxy-user|--cookie|--data[a-z-]*|--json|--form|--cert"),
    _after("curl|wget|http|https|xh|ab|wrk|grpcurl", "-H|--header|--headers|-rpc-header"),
    _after("wget", "--(?:post|body)-data"),
    _after("http|https|xh|redis-cli|ldappasswd|wbinfo|swaks", "-a|-ap"),
    _after("ab", "-A|-P"),
    _after(r"mysql\w*|mariadb[\w-]*|sshpass|mongo\w*|az|racadm|7z[arz]?|unrar|rar|zip|unzip", "-p|-P"),
    _after(r"ldap\w+|ldap-\w+", "-w|-s"),
    _after(r"snmp\w*|braa|onesixtyone", "-c|-A|-X|-K|-3[kKmM]"),
    _after(r"smb\w+|rpcclient|net|winexe|wmic|cifs\w*|samba-tool", "-U|-A"),
    _after("ipmitool|ipmi-\\w+|ipmipower|sqlcmd|bcp|mosquitto_\\w+|vncviewer", "-P|-k|-y|-p"),
    _after("lftp|ncftp\\w*|ftp|etcdctl|influx", "-u|--user|-p"),
    _after("plink|pscp|psftp|putty", "-pw"),
    _after("openssl", "-k|-K|-pass\\w*|-passin|-passout"),
    _after("ssh-keygen", "-N|-P"),
    _after("docker|podman|helm|oc|cf|nerdctl|skopeo", "login", "-p"),
    _after("docker|podman|helm|oc|cf|nerdctl|skopeo", "--creds"),
    _after("xfreerdp\\w*|wlfreerdp|rdesktop", r"/p:|/gp:|-p"),
    _after("wpa_cli|hostapd_cli", "set_network"),
)
# Where the word behind `-p` is a number, a path, a protocol or nothing.
_HARMLESS_P = re.compile(
    r"(?:mkdir|cp|mv|ssh|sftp|nmap|ps|ls|tar|rsync|netstat|ss|iptables|ip6tables|nft|install|dig|kill|top|patch|"
    r"perl|sed|telnet|nc|ncat|ping|ping6|traceroute|touch|lsof|stat|df|du|git|make|tcpdump|systemctl|journalctl|"
    r"docker|podman)\b"
)
_COMMAND = re.compile(r"\W*(?:sudo\s+)?(?P<program>\S*)")
# Of any other program: -p and what is not a number.
_P = re.compile(rf"\s[\"']?-[pP](?!\s*\d+(?:\s|$)|\s*$){_VALUE}(?=\S)")
# Wherever they stand in the line.
_ANYWHERE: tuple[Steps, ...] = (
    # All that follows, since secrets stand in it without any option.
    [
        re.compile(
            rf"{_BEFORE}(?:expect|keyctl|ansible-vault\s+encrypt_string|sqlplus|rman|impdp|expdp|radtest|radclient|"
            r"rclone\s+obscure|mc\s+alias\s+set|vault\s+(?:login|kv\s+put|write)|consul\s+kv\s+put|"
            r"rabbitmqctl\s+add_user|net\s+use|config\s+(?:mgmtuser|netuser)\s+add|create\s+account|"
            r"composer\s+config\s+http-basic\S*)\s+"
        )
    ],
    # -u with a pair, a here-string.
    [re.compile(r"\s[\"']?(?:-u|-U|--user(?:name)?)(?:\s+|=)?(?=[\"'$]*[\w.\\@-]+[:%,/])")],
    [re.compile(r"<<<\s*")],
    # Settings of devices.
    [re.compile(r"\bsnmp-server\s+host\s+\S+\s+")],
    [re.compile(r"\bsnmp-agent\s+target-host\s"), re.compile(r"\bsecurityname\s+")],
    [re.compile(r"\b(?:standby|vrrp|glbp)\b"), re.compile(r"\bauthentication\s+")],
    [re.compile(r"\b(?:auth|priv)\s+(?:(?:md5|sha[\w-]*|3?des|aes)\s+)?")],
    [re.compile(r"\b(?:md5|sha\d*|hmac-\w+)\s+(?=\S)")],
    [re.compile(r"\bset\s+(?:trap|snmp)\s+community\s+")],
)


def secret_places(text: str) -> Iterator[int]:
    """Yield where a secret of a known option may begin: the first place of each kind."""
    last = len(text.rstrip("\"' "))  # behind it nothing is left to hide
    places = (*_in_commands(text), *(_behind(steps, text, 0, len(text)) for steps in _ANYWHERE))
    return (place for place in places if place is not None and place < last)


def _in_commands(text: str) -> Iterator[int | None]:
    for segment in _SEGMENT.finditer(text):
        start, end = segment.span()
        yield from (_behind(steps, text, start, end) for steps in _OF_PROGRAMS)
        command = _COMMAND.match(text, start, end)
        if command is None or not _HARMLESS_P.match(command["program"].rpartition("/")[2]):
            yield _behind([_P], text, start, end)


def _behind(steps: Steps, text: str, start: int, end: int) -> int | None:
    for step in steps:
        found = step.search(text, start, end)
        if found is None:
            return None
        start = found.end()
    return start
