"""Secrets that no word announces: by the place where they stand on a line, and by their look.

Sources: the command references of the vendors named beside each place; crypt(5); RFC 3986 3.2.1 (userinfo);
RFC 7519 (JWT); Oxidized's model aosw.rb (ArubaOS) and RANCID's filters (syscon, PIX).
"""

import re
from collections.abc import Iterator

from netautod.core.redaction.patterns import TOKEN_LOOKS

Span = tuple[int, int]
_OPTION = (
    r"(?:vrf|use-vrf|udp-port|port|source-interface|vlan|filter)\s+\S+|traps?|informs?|notifications?|"
    r"trap-only|version\s+v?(?:1|2c?|3(?:\s+(?:auth|noauth|priv)\w*)?)|v1|v2c?|v3|ipv[46]|poll"
)
_KEPT = (
    r"(?!(?:version|traps?|informs?|vrf|use-vrf|udp-port|community|poll|ipv[46]|user|port|vlan|filter|"
    r"source\S*)\b)"
)
_ADDRESS = r"(?:(?!\d{1,3}(?:\.\d{1,3}){3})[\w-]+\s+(?=\d{1,3}\.))?(?:\S+)"
_TABLE: tuple[tuple[str, str], ...] = (
    ("comm-tbl", r"\bcomm-tbl\s+\S+\s+(?P<secret>\S+)"),
    ("authdata", r"\bauthdata\s+(?P<secret>\S+)"),
    ("cli password", r"\bcli\s+password\s+\S+\s+\S+\s+(?P<secret>\S+)"),
    ("<tls>", r"<tls>(?P<secret>[^<]+)"),
    ("com2sec", r"\bcom2sec6?\s+(?:-Cn\s+\S+\s+)?\S+\s+\S+\s+(?P<secret>\S+)"),
    ("snmp_community", r"\"SNMP_COMMUNITY\":\s*\{\s*(?P<secret>\"[^\"]+\")"),
    ("community", r"\bsnmp\s+community\s+(?:accessmode\s+\w+|mode\s+\w+|create|delete)\s+(?P<secret>\S+)"),
    ("community", r"\bsnmp\s+community\s+index\s+\S+\s+name\s+(?P<secret>\S+)"),
    ("session-key", r"\bsession-key\s+\w+\s+ah\s+\d+\s+(?P<secret>\S+)"),
    (" -u", r"\s-u\s+[\w.-]+:(?P<secret>[^\s/]+)"),
    # Cisco, Arista, Dell, Aruba, Ruckus ...: the community is the name behind the host.
    (
        "snmp",
        rf"\bsnmp(?:-server|\s+server)?\s+(?:trap-)?host\s+(?!.*\bcommunity\b)(?:ipv[46]\s+)?"
        rf"{_ADDRESS}(?:\s+(?:{_OPTION}))*\s+{_KEPT}"
        r"(?P<secret>\"[^\"]*\"|[^\s\"(]\S*)",
    ),
    ("snmp-server", r"\bsnmp-server\s+(?:trap-receiver|inform-host)\s+\S+\s+(?P<secret>(?!version)\S+)"),
    # Junos
    ("trap-group", r"\bsnmp\s+trap-group\s+(?P<secret>\"[^\"]*\"|[^\s{]\S*)"),
    # First-hop redundancy, NHRP and routing protocols: a text password.
    (
        "authentication",
        r"\b(?:standby|vrrp|glbp|hsrp)\s+(?:\S+\s+){0,3}?authentication\s+(?:text\s+)?(?!(?:md5|text|"
        r"simple|key-chain|password|encrypted\S*|plain\S*|type|mode|mode\S*|ietf\S*|key|sha\S*)\b)"
        r"(?P<secret>[^\s;]+)",
    ),
    ("nhrp", r"\b(?:ip|ipv6)\s+nhrp\s+authentication\s+(?:\d\s+)?(?P<secret>\S+)"),
    (
        "authentication",
        r"\bauthentication(?:-mode|-type)?\s+(?:(?:text|simple|plain(?:-?text)?|clear(?:-?text)?|"
        r"string|keyed-md5|cleartext)\s+)"
        r"(?:(?:plain|cipher|encrypted|text|[0-9])\s+)*(?!(?:key-?chain|password|"
        r"key)\b)(?P<secret>\"[^\"]*\"|[^\s;]+)",
    ),
    ("spi", r"\bspi\s+\d+\s+(?:esp\s+)?(?:md5|sha\d*)\s+(?:\d\s+)?(?P<secret>\S+)"),
    ("session-key", r"\bsession-key\s+\w+\s+esp\s+\d+\s+(?:cipher\s+\S+\s+)?authenticator\s+(?P<secret>\S+)"),
    # Huawei, Comware.
    ("snmp-agent", r"\bsnmp-agent\s+community\s+(?:read|write)\s+(?:(?:cipher|simple)\s+)?(?P<secret>\S+)"),
    ("securityname", r"\bsecurityname\s+(?:cipher\s+)?(?P<secret>\S+)"),
    ("%", r"(?P<secret>%(?:\^%#|@%@|\$%\$|#%#).{4,}?%(?:\^%#|@%@|\$%\$|#%#))"),
    # AireOS.
    ("user", r"\b(?:mgmtuser|netuser)\s+add\s+\S+\s+(?P<secret>\S+)"),
    (
        "add",
        r"\b(?:radius|tacacs)\s+(?:auth|acct)\s+add\s+\d+\s+\S+\s+\d+\s+(?:ascii|hex)\s+(?P<secret>\S+)",
    ),
    ("ipaddr", r"\bsnmp\s+community\s+ipaddr\s+\S+\s+\S+\s+(?P<secret>\S+)"),
    # EXOS, D-Link.
    ("account", r"\bcreate\s+account\s+\w+\s+\S+\s+(?:encrypted\s+)?(?!encrypted\b)(?P<secret>\S+)"),
    ("account", r"\bconfigure\s+account\s+\S+\s+encrypted\s+(?P<secret>\S+)"),
    ("snmpv3", r"\bsnmpv3\s+add\s+community\s+.*?\sname\s+(?P<secret>\S+)"),
    # ArubaOS.
    (
        "mgmt-user",
        r"\bmgmt-user\s+\S+\s+(?:(?:root|admin|guest-provisioning|network-operations|read-only|"
        r"location-api-mgmt|"
        r"guest-mgmt)\s+)?(?P<secret>\S{4,})",
    ),
    ("mobility-manager", r"\bmobility-manager\s+\S+\s+user\s+\S+\s+(?P<secret>\S+)"),
    ("ipsec", r"\b(?:masterip|conductorip|localip)\s+\S+\s+ipsec\s+(?P<secret>\S+)"),
    ("pre-share", r"\bpre-share\s+(?!(?:encryption|hash|group|lifetime|prf|and|or)\b)(?P<secret>[^\s;]+)"),
    # EdgeOS
    ("unms", r"\bset\s+service\s+unms\s+connection\s+'?\S*?\+(?P<secret>[^+\s']+)"),
    # PIX, VMS terminals.
    ("aaa-server", r"\baaa-server\s+\S+\s+\([^)]*\)\s+host\s+\S+\s+(?!(?:timeout|key)\b)(?P<secret>\S+)"),
    ("syscon", r"\bsyscon\s+address\s+\S+\s+(?P<secret>\S+)"),
    # RouterOS: the name of a community is the community.
    ("/snmp", r"/snmp\s+community\b[^\n]*?\sname=(?P<secret>\"[^\"]*\"|\S+)"),
    # Alcatel, Fabric OS: users and their passwords in one list.
    ("snmp.", r"\bsnmp\.[\w.]*(?:community|secret|password)[\w.]*:(?P<secret>\S+)"),
    ("http.", r"\bhttp\.\w+\.user:(?P<secret>\S+)"),
    # shadow(5).
    (":", r"^[a-z_][\w.-]*:(?P<secret>[^:*!\s][^:\s]{12,}):\d*:\d*:\d*:"),
    # What Junos says of a statement itself.
    ("secret-data", r"(?<![^\s\"])(?P<secret>\"[^\"\s]+\"|[^\s;\"]+)\s?;?\s?(?:##|/\*)\s?SECRET-DATA"),
    # Logins in URLs, and of copies without a scheme.
    ("://", r"://[^\s/:@\"'<>]*:(?!\d+/)(?P<secret>[^\s@]+(?:@(?=\S*@)[^\s@]+)*)@"),
    ("@", r"https?://(?P<secret>[^\s/:@\"'<>]{16,})@"),
    (
        "@",
        r"(?:^|[\s\"'=])(?!(?:[\da-fA-F]{0,4}:){2})[A-Za-z][\w.\\-]*:(?![/\\])(?P<secret>[^\s@/:\"']["
        r"^\s@/\"']*)@[\w\[][\w.:\]-]*",
    ),
    # crypt(5), and what looks like it: Junos $8$ and $9$, IOS $8$, $9$ and $14$, pbkdf2 of EOS and NX-OS.
    (
        "$",
        r"(?P<secret>\$(?:\d{1,2}[abxy]?|y|gy|sm3|sha1|sha256|sha512|argon2\w*|apr1|pbkdf2[\w-]*|"
        r"nthash|bcrypt[\w-]*)\$[^\s\";,<>']+)",
    ),
    ("{", r"(?P<secret>\{(?:S?SHA\d*|S?MD5|CRYPT|PBKDF2[\w-]*|AES\S*)\}[A-Za-z0-9+/=$.]{8,})"),
)
# A first word that every place of the table has, so that other lines cost one search.
HINT = re.compile(
    r"(?i)snmp|comm-tbl|authdata|cli password|<tls>|com2sec|\s-u\s|tacacs\s+a|unms|standby|vrrp|"
    r"glbp|hsrp|nhrp|authentication|spi\s|session-key|securityname|"
    r"%\^%#|%@%@|%\$%\$|%#%#|"
    r"mgmtuser|netuser|radius\s+a|account|mgmt-user|mobility-manager|(?:master|conductor|"
    r"local)ip|pre-share|aaa-server|"
    r"syscon|http\.|:\d*:\d*:|SECRET-DATA|@|\$\w+\$|\{[SMCPA]\w+\}"
)
_PLACES = tuple((word, re.compile(rf"(?i){pattern}")) for word, pattern in _TABLE)


def placed(line: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The matches between `start` and `end`, each with the group `secret`."""
    if HINT.search(line, start, end) is not None:
        plain = line[start:end].lower()
        for word, place in _PLACES:
            if word in plain:
                yield from place.finditer(line, start, end)
    yield from TOKEN_LOOKS.finditer(line, start, end)
