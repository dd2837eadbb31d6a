"""Secrets that no word announces: by the place where they stand on a line, and by their look.

Sources: the command references of the vendors named beside each place; crypt(5); RFC 3986 3.2.1 (userinfo);
RFC 7519 (JWT); Oxidized's model aosw.rb (ArubaOS) and RANCID's filters (syscon, PIX).
"""

import re
from collections.abc import Iterator

from netautod.secrets.redaction.patterns import TOKEN_LOOKS

Span = tuple[int, int]
_OPTION = (
    r"(?:vrf|use-vrf|udp-port|port|source-interface|vlan|filter)\s+\S+|traps?|informs?|notifications?|"
    r"trap-only|version\s+v?(?:1|2c?|3(?:\s+(?:auth|noauth|priv)\w*)?)|v1|v2c?|v3|ipv[46]|poll|clear|encrypted"
)
_KEPT = (
    r"(?!(?:version|traps?|informs?|vrf|use-vrf|udp-port|community|poll|ipv[46]|user|port|vlan|filter|"
    r"source\S*|clear|encrypted)(?![\w-]))"
)
_ADDRESS = r"(?:(?!\d{1,3}(?:\.\d{1,3}){3})[\w-]+\s+(?=\d{1,3}\.))?(?:\S+)"
_TABLE: tuple[tuple[str, str], ...] = (
    ("comm-tbl", r"\bcomm-tbl\s+\S+\s+(?P<secret>\S+)"),
    ("authdata", r"\bauthdata\s+(?P<secret>\S+)"),
    ("cli password", r"\bcli\s+password\s+\S+\s+\S+\s+(?P<secret>\S+)"),
    ("<tls>", r"<tls>(?P<secret>[^<]+)"),
    ("com2sec", r"\bcom2sec6?\s+(?:-Cn\s+\S+\s+)?\S+\s+\S+\s+(?P<secret>\S+)"),
    ("snmp_community", r"\"SNMP_COMMUNITY\":\s*\{\s*(?P<secret>\"[^\"]+\")"),
    (
        "community",
        r"\bsnmp\s+community\s+(?:accessmode\s+\w+|mode\s+\w+|create|del|delete)\s+(?P<secret>\S+)",
    ),
    ("community", r"\bsnmp(?:v3)?\s+community\s+index\s+\S+\s+name\s+(?P<secret>\S+)"),
    ("session-key", r"\bsession-key\s+\w+\s+ah\s+\d+\s+(?P<secret>\S+)"),
    (" -u", r"\s-u\s+[\w.-]+:(?P<secret>[^\s/]+)"),
    # Cisco, Arista, Dell, Aruba, Ruckus ...: the community is the name behind the host.
    (
        "snmp",
        rf"\bsnmp(?:-server|\s+server)?\s+(?:trap-)?host\s+(?!.*\bcommunity\b)"
        rf"(?:ipv[46]\s+)?"
        rf"{_ADDRESS}(?:\s+(?:{_OPTION}))*\s+{_KEPT}"
        r"(?P<secret>\"[^\"]*\"|[^\s\"(]\S*)",
    ),
    ("snmp-server", r"\bsnmp-server\s+(?:trap-receiver|inform-host)\s+\S+\s+(?P<secret>(?!version)\S+)"),
    # Junos
    ("trap-group", r"\bsnmp\s+trap-group\s+(?P<secret>\"[^\"]*\"|[^\s{]\S*)"),
    # FastIron, TP-Link: a type or a port before the community. Net-SNMP, Calix, ScreenOS, Alcatel.
    ("version", r"\bsnmp-server\s+host\s+\S+\s+version\s+v(?:1|2c)\s+\d\s+(?P<secret>\S+)"),
    ("host", r"\bsnmp-server\s+host\s+\S+\s+\d+\s+(?P<secret>\"[^\"]*\")"),
    ("sink", r"^\s*(?:trap2?sink|informsink)\s+\S+\s+(?P<secret>\S+)"),
    ("trap-host", rf"^\s*trap-host\s+\d{{1,3}}(?:\.\d{{1,3}}){{3}}\s+{_KEPT}(?P<secret>\"[^\"]*\"|\S+)"),
    ("host", r"^\s*set\s+snmp\s+host\s+(?P<secret>\"[^\"]*\")\s"),
    ("map", r"\bsnmp\s+community\s+map\s+(?!mode\s)(?P<secret>\"[^\"]*\"|\S+)"),
    ("privacy", r"\bprivacy\s+(?:cfb|cbc)[\w-]*\s+(?P<secret>\"[^\"]*\"|\S+)"),
    # First-hop redundancy, NHRP and routing protocols: a text password.
    (
        "authentication",
        r"\b(?:standby|vrrp|glbp|hsrp)\s+(?:\S+\s+){0,3}?authentication\s+(?:text\s+)?(?!(?:md5|text|"
        r"simple|encrypt|key-?chain|password|encrypted|plain|plaintext|type|mode|ietf-md5|key|sha[\d-]*|\d)"
        r"(?![\w-]))"
        r"(?P<secret>[^\s;]+)",
    ),
    ("nhrp", r"\bnhrp\s+authentication\s+(?:\d\s+)?(?P<secret>\S+)"),
    (
        "authentication",
        r"\bauthentication(?:-mode|-type)?\s+(?:(?:text|simple|plain(?:-?text)?|clear(?:-?text)?|"
        r"string|keyed-md5|cleartext|encrypt|simple-?text)\s+)"
        r"(?:(?:plain|cipher|encrypted|text|[0-9])\s+)*(?!(?:key-?chain|password|"
        r"key)(?![\w-]))(?P<secret>\"[^\"]*\"|[^\s;]+)",
    ),
    ("spi", r"\bspi\s+\d+\s+(?:esp\s+)?(?:md5|sha\d*)\s+(?:\d\s+)?(?P<secret>\S+)"),
    ("session-key", r"\bsession-key\s+\w+\s+esp\s+\d+\s+(?:cipher\s+\S+\s+)?authenticator\s+(?P<secret>\S+)"),
    # Huawei, Comware.
    ("snmp-agent", r"\bsnmp-agent\s+community\s+(?:read|write)\s+(?:(?:cipher|simple)\s+)?(?P<secret>\S+)"),
    ("securityname", r"\bsecurityname\s+(?:cipher\s+)?(?!\S+\s+v3\b)(?P<secret>\S+)"),
    ("%", r"(?P<secret>%(?:\^%#|@%@|\$%\$|#%#).{4,}?%(?:\^%#|@%@|\$%\$|#%#))"),
    # AireOS.
    ("user", r"\b(?:mgmtuser|netuser)\s+add\s+\S+\s+(?P<secret>\S+)"),
    (
        "add",
        r"\b(?:radius|tacacs)\s+(?:auth|acct|athr)\s+add\s+\d+\s+\S+\s+\d+\s+(?:ascii|hex)\s+(?P<secret>\S+)",
    ),
    ("ipaddr", r"\bsnmp\s+community\s+ipaddr\s+\S+\s+\S+\s+(?P<secret>\S+)"),
    ("encrypt", r"\b(?:password|hex|ascii)\s+encrypt\s+1\s+(?P<secret>\S+\s+\S+\s+\d+\s+\S+)"),
    ("keywrap", r"\bkeywrap\s+add\s+(?:hex|ascii)\s+(?P<secret>\S+\s+\S+)"),
    ("trapreceiver", r"\btrapreceiver\s+(?:create|mode\s+\w+|delete)\s+(?P<secret>\S+)"),
    ("v3user", r"\bv3user\s+create\s+\S+(?:\s+\w+){3}\s+(?:encrypt\s+)?(?P<secret>\S+(?:\s+\S+)?)"),
    ("radius", r"\bradius\s+dns\s+\w+\s+\w+\s+(?:ascii|hex)\s+(?P<secret>\S+)"),
    ("radius", r"\bradius\s+server\s+add\s+\w+\s+\S+\s+\d+\s+(?P<secret>\S+)"),
    ("member", r"\bmember\s+hash\s+\S+\s+(?!none\b)(?P<secret>\S+)"),
    # Cisco: master keys, archives of keys, EIGRP, LDP, TrustSec, mail of EEM, the manager of FTD.
    ("config-key", r"\bconfig-key\s+(?:password-encrypt(?:ion)?|newpass|ascii|\d+)\s+(?P<secret>\S.*)"),
    ("isakmp", r"\bisakmp\s+key\s+(?:[06]\s+)?(?P<secret>\S+)\s+(?:address|hostname)\b"),
    ("string", r"\bauthentication\s+text,\s+string\s+(?P<secret>\"[^\"]*\"|\S+)"),
    ("encrypt", r"\badd\s+encrypt\s+\d+\s+\S+\s+\d+\s+password\s+\d+\s+(?P<secret>\S.*)"),
    (
        "pkcs12",
        r"\bpkcs12\s+(?:terminal\s+|\S+[:/]\S*\s+)?(?!(?:terminal|password)(?:\s|$))(?P<secret>[^\s:]+)$",
    ),
    ("pem", r"\bpem\s+(?:terminal|url\s+\S+)\s+(?!(?:3?des|aes|password)(?:\s|$))(?P<secret>\S+)"),
    ("eigrp", r"\bauthentication\s+key\s+eigrp\s+\d+\s+(?:\d\s+)?(?P<secret>\S+)"),
    ("option", r"\bpassword\s+option\s+\d+\s+for\s+\S+\s+(?:\d\s+)?(?!key-?chain\s)(?P<secret>\S+)"),
    ("required", r"\bsxp\s+connection\s.{1,200}?\spassword\s+required\s+(?P<secret>\S+)"),
    ("msdp", r"\bmsdp\s+password\s.{1,99}?\sencryption-type\s+\d\s+(?P<secret>\S+)"),
    ("environment", r"\benvironment\s+_?\w*(?:pw|pwd|pass)\w*\s+(?P<secret>\S.*)"),
    ("manager", r"\bconfigure\s+manager\s+add\s+\S+\s+(?P<secret>\S+)"),
    ("url", r"\burl\s+authentication\s+\S+\s+\S+\s+(?P<secret>\S+)"),
    ("license", r"^\s+license\s+(?:\S+\s+)?(?P<secret>(?=\S*\d)[0-9A-Fa-f]{8,32})\s*$"),
    (
        "authentication",
        r"^\s+authentication\s+(?P<secret>(?!\S*(?:md5|sha\d|dot1x|802|rsa|dsa|des|aes|-|v\d$))\S*\d\S*)$",
    ),
    # EOS: MACsec, the agent of CloudVision; SONiC.
    ("key", r"^\s*(?:(?:no|default)\s+)?key\s+\S+\s+(?:0|7|8a)\s+(?P<secret>\S+)"),
    ("auth=", r"auth=key,(?P<secret>[^\s,]+)"),
    ("add", r"\bconfig\s+(?:tacacs|radius)\s+add\s.{0,200}?(?:-k|--key)[\s=]+(?P<secret>\S+)"),
    # FastIron, NetScaler.
    ("auth-type", r"\bauth-type\s+simple(?:-text-auth)?\s+(?P<secret>\S+)"),
    ("failsafe-account", r"\bfailsafe-account\s+(?:encrypted\s+)?(?P<secret>\"[^\"]*\"(?:\s+\"[^\"]*\")?)"),
    (
        "user",
        r"\b(?:add|set)\s+system\s+user\s+\S+\s+(?P<secret>\"[^\"]*\"|[^\s-]\S*)(?=\s+-|\s*$)",
    ),
    ("-encrypted", r"\bsystem\s+user\s+\S+\s+(?P<secret>\S+)(?=\s+-encrypted\b)"),
    # EXOS, D-Link.
    ("account", r"\bcreate\s+account\s+\w+\s+\S+\s+(?:encrypted\s+)?(?!encrypted\b)(?P<secret>\S+)"),
    ("account", r"\bconfigure\s+account\s+\S+\s+encrypted\s+(?P<secret>\S+)"),
    ("snmpv3", r"\bsnmpv3\s+add\s+community\s+.*?\sname\s+(?P<secret>\S+)"),
    # ScreenOS, Gaia, Yamaha, ZTE, Huawei's OLT, Fabric OS, ERS.
    ("md5-authentication", r"\bmd5-authentication\s+(?P<secret>\"[^\"]+\")"),
    ("authtype", r"\bauthtype\s+simple\s+(?!password\s)(?P<secret>\"[^\"]*\"|\S+)"),
    (
        "user",
        r"^\s*login\s+user\s+\S+\s+(?:encrypted\s+)?(?!(?:class|uid|authentication)\s)"
        r"(?P<secret>\"[^\"]*\"|\S+)",
    ),
    ("auth", r"\bpp\s+auth\s+(?:myname|username)\s+\S+\s+(?P<secret>\"[^\"]*\"|\S+)"),
    ("auth", r"\bl2tp\s+tunnel\s+auth\s+on\s+(?P<secret>\"[^\"]*\"|\S+)"),
    ("pw", r"\b(?:registration-method|onu\s+\d+\s+type\s+\S+)\s+(?:\S+\s+)?pw\s+(?P<secret>\"[^\"]*\"|\S+)"),
    ("password-auth", r"\bont\s+\w+\s.{0,80}?\bpassword-auth\s+(?P<secret>\"[^\"]*\"|\S+)"),
    ("aaaconfig", r"\baaaconfig\s.{0,200}?\s-s\s+(?P<secret>\"[^\"]*\"|\S+)"),
    ("secauthsecret", r"\bsecauthsecret\s+--set\s+\S+\s+(?P<secret>\S+(?:\s+\S+)?)"),
    (
        "username",
        r"^\s*username\s+\S+\s+(?!(?:role|group|level|access)\s)(?P<secret>\"[^\"]*\"|\S+)\s+r[ow](?=\s|$)",
    ),
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
    (
        "aaa-server",
        r"\baaa-server\s+\S+\s+(?:\([^)]*\)\s+)?host\s+\S+\s+(?!(?:timeout|key)(?![\w-]))(?P<secret>\S+)",
    ),
    ("syscon", r"\bsyscon\s+address\s+\S+\s+(?P<secret>\S+)"),
    # RouterOS: the name of a community is the community.
    ("/snmp", r"/snmp\s+community\b[^\n]*?\sname=(?P<secret>\"[^\"]*\"|\S+)"),
    # Alcatel, Fabric OS: users and their passwords in one list.
    ("snmp.", r"\bsnmp\.[\w.]*(?:community|secret|password)[\w.]*:(?P<secret>\S+)"),
    ("http.", r"\bhttp\.\w+\.user:(?P<secret>\S+)"),
    # Headers of HTTP in monitors, ipsec.secrets(5), chap-secrets of pppd(8), sasl_passwd of Postfix.
    ("authorization", r"authorization\W{1,4}(?:basic|bearer|token)\s+(?P<secret>[\w+/=.~-]+)"),
    (' "', r":\s+(?:eap|xauth|ntlm)\s+(?P<secret>\"[^\"]*\")"),
    ("*", r"^\s*(?:\"[^\"]*\"|\S+)\s+\*\s+(?P<secret>\"[^\"]+\")(?:\s|$)"),
    (":", r"^\s*\[?[\w.-]+\]?:(?:25|465|587|2525)\s+[^\s:]+:(?P<secret>\S+)"),
    # shadow(5).
    (":", r"^[a-z_][\w.-]*:(?P<secret>[^:*!\s][^:\s]{12,}):\d*:\d*:\d*:"),
    # Linux: snmpd.conf, ipsec.secrets, pap and chap secrets, Postfix, ip xfrm, netplan, OpenWrt, HAProxy.
    ("sink", r"^\s*(?:trap2?|inform)sink\s+\S+\s+(?P<secret>\S+)"),
    ("usmuser", r"\.1\.3\.6\.1\.6\.3\.10\.1\.[12]\.\d+\s+(?P<secret>0x[0-9A-Fa-f]{2,})"),
    (
        ":",
        r"(?:^|\s):\s+(?:PSK|EAP|XAUTH|NTLM|(?:RSA|ECDSA|PKCS8|PKCS12|P12)\s+\S+)\s+(?P<secret>\"[^\"]*\"|0[sx]\S+)",
    ),
    ("*", r"^\s*(?:\"[^\"]*\"|[\w.@\\-]+)\s+\*\s+(?P<secret>\"[^\"]+\"|[^\s\"*]+)\s+\*\s*$"),
    ('"', r"^\s*\"[^\"]*\"\s+(?:\"[^\"]*\"|\*)\s+(?P<secret>\"[^\"]+\"|[^\s\"*]+)\s+(?:\*|-|[\d.:/]+)\s*$"),
    ("@", r"^\[?[\w.-]+\]?(?::\d+)?\s+[\w.+-]+@[\w.-]+:(?!\d{1,5}$)(?P<secret>[^\s/~]\S*)\s*$"),
    (" 0x", r"\b(?:enc|auth|auth-trunc|aead)\s+\S+\)+\s+(?P<secret>0x[0-9A-Fa-f]{8,})"),
    ("shared:", r"^\s+shared:\s+(?P<secret>[A-Za-z0-9+/]{43}=)"),
    ("option", r"^\s*option\s+key\d\s+(?P<secret>'[^']*'|\S+)"),
    ("stats", r"\bstats\s+auth\s+[^\s:]+:(?P<secret>\S+)"),
    # Headers of HTTP; FortiOS: passwords of before.
    (
        "authorization",
        r"\bauthorization[\"'\\]*\s*[:=]\s*[\"']?(?:bearer|basic|token|negotiate)\s+(?P<secret>[^\s\"',;\\]+)",
    ),
    ("history", r"^\s*set\s+history\d+\s+(?:ENC\s+)?(?P<secret>\S+)"),
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
        r"nthash|bcrypt[\w-]*)\$(?:[^\s\";,<>':]|:(?!\d*:))+)",
    ),
    ("{", r"(?P<secret>\{(?:S?SHA\d*|S?MD5|CRYPT|PBKDF2[\w-]*|AES\S*)\}[A-Za-z0-9+/=$.]{8,})"),
)
# A first word that every place of the table has, so that other lines cost one search.
HINT = re.compile(
    r"(?i)snmp|isakmp|-server\s|sink\s|usmuser|:\s+(?:psk|eap|xauth|ntlm|rsa|ecdsa|pkcs|p12)\s|\s\*|^\s*\"|"
    r"\)\s+0x|shared:|option\s|stats\s|authorization|set\s+history|auth-type|-encrypted|"
    r"comm-tbl|authdata|cli password|<tls>|com2sec|\s-u\s|tacacs\s+a|unms|standby|vrrp|"
    r"glbp|hsrp|nhrp|authentication|spi\s|session-key|securityname|"
    r"keywrap|trapreceiver|v3user|radius\s+(?:dns|server)|member\s+hash|config-key|pkcs12|\bpem\s|"
    r"password\s+option|sxp\s|msdp|environment|manager\s+add|license|\bkey\s|auth=|encrypt\s|"
    r"trap2?sink|informsink|trap-host|privacy\s|authtype|login\s+user|\sauth\s|\spw\s|"
    r"password-auth|aaaconfig|secauthsecret|username\s|system\s+user|authorization\W|"
    r":\s+(?:eap|xauth|ntlm)\s|\s\*\s+\"|:(?:25|465|587|2525)\s|"
    r"%\^%#|%@%@|%\$%\$|%#%#|"
    r"mgmtuser|netuser|radius\s+a|account|mgmt-user|mobility-manager|(?:master|conductor|"
    r"local)ip|pre-share|aaa-server|"
    r"syscon|http\.|:\d*:\d*:|SECRET-DATA|@|\$\w+\$|\{[SMCPA]\w+\}"
)
_PLACES = tuple((word, re.compile(rf"(?i){pattern}")) for word, pattern in _TABLE)


def placed(line: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the matches between `start` and `end`, each with the group `secret`."""
    if HINT.search(line, start, end) is not None:
        plain = line[start:end].lower()
        for word, place in _PLACES:
            if word in plain:
                yield from place.finditer(line, start, end)
    yield from TOKEN_LOOKS.finditer(line, start, end)
