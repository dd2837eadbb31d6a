"""Options and places of known programs behind which a secret stands without being named.

Sources: the manual pages of the programs, and the command references of the vendors.
"""

import re
from collections.abc import Iterator

# A value that is hidden may be glued to its option, or stand behind a blank or an equals sign.
_VALUE = r"(?:\s+|=)?"
_BEFORE = r"(?:^|(?<=[\s\"'|;&(`]))"


def _programs(names: str) -> str:
    return rf"{_BEFORE}(?:[\w./-]*/)?(?:{names})(?:\.exe)?\b[^|;]*?\s[\"']?"


def _after(names: str, options: str) -> re.Pattern[str]:
    return re.compile(rf"{_programs(names)}(?:{options}){_VALUE}")


# Where the word behind `-p` is a number, a path, a protocol or nothing.
_HARMLESS_P = (
    "mkdir|cp|mv|ssh|sftp|nmap|ps|ls|tar|rsync|netstat|ss|iptables|ip6tables|nft|install|dig|kill|top|patch|"
    "perl|sed|telnet|nc|ncat|ping|ping6|traceroute|touch|lsof|stat|df|du|git|make|tcpdump|systemctl|journalctl"
)
_TABLE: tuple[re.Pattern[str], ...] = (
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
    _after("docker|podman|helm|oc|cf|nerdctl|skopeo", "login\\b[^|;]*?\\s-p|--creds"),
    _after("xfreerdp\\w*|wlfreerdp|rdesktop", r"/p:|/gp:|-p"),
    _after("wpa_cli|hostapd_cli", "set_network"),
    # All that follows, since secrets stand in it without any option.
    re.compile(
        rf"{_BEFORE}(?:expect|keyctl|ansible-vault\s+encrypt_string|sqlplus|rman|impdp|expdp|radtest|radclient|rclone\s+obscure|mc\s+alias\s+set|"
        r"vault\s+(?:login|kv\s+put|write)|consul\s+kv\s+put|rabbitmqctl\s+add_user|net\s+use|"
        r"config\s+(?:mgmtuser|netuser)\s+add|create\s+account|composer\s+config\s+http-basic\S*)\s+"
    ),
    # Any other program: -p and what is not a number, -u with a pair, a here-string.
    re.compile(
        rf"(?m)^(?!\W*(?:sudo\s+)?(?:\S*/)?(?:{_HARMLESS_P}|docker|podman)\b)[^|;]*?\s[\"']?-[pP](?!\s*\d+(?:\s|$)|\s*$){_VALUE}(?=\S)"
    ),
    re.compile(r"\s[\"']?(?:-u|-U|--user(?:name)?)(?:\s+|=)?(?=[\"'$]*[\w.\\@-]+[:%,/])"),
    re.compile(r"<<<\s*"),
    # Settings of devices.
    re.compile(r"\bsnmp-server\s+host\s+\S+\s+"),
    re.compile(r"\bsnmp-agent\s+target-host\s+.*\bsecurityname\s+"),
    re.compile(r"\b(?:standby|vrrp|glbp)\b.*\bauthentication\s+"),
    re.compile(r"\b(?:auth|priv)\s+(?:(?:md5|sha[\w-]*|3?des|aes)\s+)?"),
    re.compile(r"\b(?:md5|sha\d*|hmac-\w+)\s+(?=\S)"),
    re.compile(r"\bset\s+(?:trap|snmp)\s+community\s+"),
)


def secret_places(text: str) -> Iterator[int]:
    """Where a secret of a known option may begin: the first place of each kind."""
    for pattern in _TABLE:
        found = pattern.search(text)
        if found is not None and text[found.end() :].strip("\"' "):
            yield found.end()
