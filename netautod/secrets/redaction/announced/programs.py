"""Values of options of known programs, in crontabs, scripts and units: `-p` of mysql, `-w` of ldapsearch, ...

Sources: the manual pages of the programs.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]
# An option of a program: most lines of configurations have none.
CALL = re.compile(r"\s[\"']?[-/]{1,2}[A-Za-z]")
_SEGMENT = re.compile(r"[^|;\n]+")
_VALUE = r"(?P<secret>\"[^\"]*\"|'[^']*'|[^\s\"'|;&]+)"
# In a value of several parts, what stands behind the name.
_PAIR = r"[\"']?[\w.\\@+-]*[:%,](?P<secret>[^\s\"'|;&@]+)"
# The programs, their options (the value is glued, unless blanks follow here), and the value.
_TABLE: tuple[tuple[str, str, str], ...] = (
    (r"mysql\w*|mariadb[\w-]*|mongo\w*|7z[arz]?|unrar|rar|sshpass", r"-p", _VALUE),
    (r"mongo\w*|sshpass|etcdctl|influx", r"-p(?:\s+|=)", _VALUE),
    (r"sqlcmd|bcp|isql|zip|unzip|ipmitool|ipmi-\w+|ipmipower|mosquitto_\w+|ssh-keygen", r"-P\s*", _VALUE),
    (r"ssh-keygen", r"-N\s*", _VALUE),
    (r"ldap\w+|ldap-\w+", r"-w\s*", _VALUE),
    (r"ldappasswd", r"-[as]\s*", _VALUE),
    (
        r"snmp(?:get|getnext|walk|bulk\w+|set|table|trap|inform|df|status|test|usm|vacm|delta)|braa|onesixtyone",
        r"-(?:[cAXK]|3[kKmM])\s*",
        _VALUE,
    ),
    (r"redis-cli|redis-benchmark", r"-a\s*", _VALUE),
    (r"plink|pscp|psftp|putty", r"-pw\s+", _VALUE),
    (r"openssl", r"-(?:[kK]|pass|passin|passout)\s+(?:pass:)?(?!(?:file|env|fd|stdin)\b)", _VALUE),
    (r"xfreerdp\w*|wlfreerdp", r"/g?p:", _VALUE),
    (r"(?:docker|podman|helm|oc|cf|nerdctl|skopeo)\s+(?:\w+\s+)?login", r"-p\s*", _VALUE),
    (r"curl|ab", r"(?:-[uUAP]|--(?:proxy-)?user)(?:\s+|=)?", _PAIR),
    (r"smb\w+|rpcclient|net|winexe|wmic|samba-tool|lftp|ncftp\w*", r"-[uU]\s*", _PAIR),
)
_BEFORE = r"(?:^|(?<=[\s\"'|;&(`/]))"
_PROGRAMS = tuple(
    (re.compile(rf"{_BEFORE}(?:{programs})(?:\.exe)?(?=\s)"), re.compile(rf"\s[\"']?{option}{value}"))
    for programs, option, value in _TABLE
)
_ANY = re.compile("|".join(program.pattern for program, _ in _PROGRAMS))


def of_programs(line: str, start: int, end: int) -> Iterator[Span]:
    """Yield where each value of a program's options begins and ends, between `start` and `end`."""
    if CALL.search(line, start, end) is None or _ANY.search(line, start, end) is None:
        return
    for segment in _SEGMENT.finditer(line, start, end):
        for program, option in _PROGRAMS:
            called = program.search(line, *segment.span())
            if called is not None:
                yield from (
                    found.span("secret") for found in option.finditer(line, called.end(), segment.end())
                )
