"""The forms in which devices of any make print log lines into a session: at line starts and within lines.

The forms are those of the vendors' manuals of log messages and of RFC 3164 and RFC 5424. What has one is a
suspect, no more: banners and descriptions quote log lines.
"""

import re

_TIME = r"\d\d:\d\d:\d\d(?:[.:,]\d{1,6})?"
_DAY = r"[A-Z][a-z]{2} {1,2}\d{1,2}"
_ZONE = r"(?: ?(?:[A-Z]{2,5}|[+-]\d\d:?\d\d)(?![\w-]))?"
_DATE = (
    rf"(?:(?:[A-Z][a-z]{{2}} )?(?:\d{{4}} )?{_DAY}(?: \d{{4}})?"
    r"|\d{4}[-/.]\d\d[-/.]\d\d|\d\d?[-/.](?:\d\d|[A-Z][a-z]{2})[-/.](?:\d{4}|\d\d))"
)
_STAMP = rf"(?:{_DATE}[ T-])?{_TIME}{_ZONE}(?: \d{{4}})?"
_UPTIME = r"\d+[ywd]\d+[wdh]"
_WORD = r"[\w.:/@()\[\]#-]{1,64}"
_TASK = r"[\w./-]{1,32}"
_CISCO = r"%(?:[A-Z0-9_$]+-)+(?:[0-7]|[IWENAFDC])-\w+(?:\(\w\))?(?:\[\d+\])? ?:"
_FORMS = (
    # Cisco IOS, XE, XR, NX-OS, ASA, WLC; Arista, Dell, Ruijie, Eltex: %FACILITY-SEVERITY-MNEMONIC:
    rf"(?:(?:<\d{{1,3}}>|\d{{1,9}}: |[*.#+]|\*?{_TASK}: ?){{0,3}}(?:{_STAMP}|{_UPTIME}) ?:? ?"
    rf"(?:{_WORD}:? ){{0,3}}(?:%\$ VDC-\d+ %\$ )?)?{_CISCO}",
    # Huawei, H3C and HPE Comware: FACILITY/SEVERITY/MNEMONIC
    rf"[%*#]{{0,2}}(?:\d+ )?{_STAMP} (?:[\w.-]{{1,64}} ){{1,4}}(?:%%\d\d)?[A-Z][A-Z0-9_]+/[0-7]/[A-Z0-9_]+",
    # RFC 5424, RFC 3164 with its priority; FastIron announces it
    r"(?:SYSLOG: ?)?<\d{1,3}>(?:1 \d{4}-\d\d-\d\dT|[ *]?" + rf"{_STAMP} ?)",
    # a daemon of Junos, EOS, SONiC, Linux: date, host, program with its number
    rf"(?:{_STAMP}|\d{{4}}-\d\d-\d\dT{_TIME}\S{{0,6}})  ?"
    rf"{_WORD} (?:[\w.-]{{1,40}} )?[\w./-]{{1,40}}\[\d+\]: ",
    rf"\d{{4}} {_DAY} {_TIME} \S+ (?:EMERG|ALERT|CRIT|ERR|WARNING|NOTICE|INFO|DEBUG) \S+: ",
    r"(?:Message from syslogd@|Broadcast [Mm]essage from )\S+ ",
    r"\[ {0,4}\d+\.\d{6}\] \w+",  # the kernel
    # ProCurve, ArubaOS-Switch: severity, date, time, number of the event, module
    rf"[IWMDE] \d\d/\d\d/\d\d {_TIME} \d{{5}} \S+: ",
    # EXOS
    rf"\d\d/\d\d/\d{{4}} {_TIME} <(?:Crit|Erro|Warn|Noti|Info|Summ|Verb|Debg)(?::\S+)?> ",
    # RouterOS
    r"(?:\(?(?:[a-z]{3}/\d\d(?:/\d{4})?|\d{4}-\d\d-\d\d) )?"
    rf"(?:{_TIME} )?echo: [a-z!0-9-]{{1,32}}(?:,[a-z!0-9-]{{1,32}})* ",
    # SR OS
    rf"\d+ {_STAMP} (?:CRITICAL|MAJOR|MINOR|WARNING|INDETERMINATE|CLEARED): [A-Z_]+ #\d+ ",
    # Brocade FOS and NOS
    rf"\d{{4}}/\d\d/\d\d-{_TIME}(?: \([A-Z]+\))?, \[[A-Z0-9]+-\d+\], \d+",
    # Ciena SAOS
    rf"{_STAMP} \[(?:local|UTC)\] Sev:\d ",
    # VOSS
    rf"(?:CP\d+|\d+) +\[?{_STAMP}\]? .{{0,60}}(?:INFO|WARNING|ERROR|FATAL) ",
    # FortiOS
    rf"date=\d{{4}}-\d\d-\d\d time={_TIME} ",
    # ZTE, Huawei's access nodes
    rf"(?:An? )?(?:alarm|notification) \d+ (?:ID \d+ )?(?:level \d )?(?:occurred|cleared|sent) at {_TIME} ",
    r" {0,8}! ?\d*\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]{0,16}\]:",
    # Adtran, Calix, RAD, Casa, Raisecom, D-Link
    rf"(?:\d{{4}}\.\d\d\.\d\d )?{_TIME} [A-Z][A-Z0-9_]+\.\S.{{0,60}} (?:changed|up|down)\b",
    rf"\[\d{{4}}-\d\d-\d\dT{_TIME}[^\]]{{0,8}}\] ",
    rf"\d{{4}}-\d\d-\d\d {_TIME} (?:MAJOR|MINOR|CRITICAL|WARNING|EVENT|CLEARED|(?:CRIT|WARN|INFO)\(\d\)) ",
    rf"(?:<\d{{1,3}}> ?)?{_STAMP} [\w.-]+ (?:CMTS|ALARM|LOG|SYSLOG|DOCS)\b",
    r"[A-Z][a-z]{2}-\d\d-\d{4} \d\d:\d\d:\d\d \S+ [\w-]+-[0-7]-[\w-]+:",
    # Alcatel-Lucent OmniSwitch, TMOS, Yamaha
    rf"{_STAMP} : [A-Z]+ \(\d+\) \w+ message:",
    rf"{_STAMP} \S+ (?:emerg|alert|crit|err|warning|notice|info) [\w-]+\[\d+\]: ",
    rf"\d{{4}}/\d\d/\d\d {_TIME}: (?:\[?[A-Z]+\d*\]?:? |Login|Logout|\S+ (?:link|up|down))",
)
_HINT = re.compile(r"\d:\d\d:\d\d|%[A-Z%]|syslogd@|Broadcast |echo: |\[ {0,4}\d+\.\d{6}\]|<\d{1,3}>1 ")
_ANY = re.compile("|".join(f"(?:{form})" for form in _FORMS))


def begins_as_log(line: str) -> bool:
    """Return whether the line, from its beginning, has the form of a log line."""
    return _HINT.search(line) is not None and _ANY.match(line) is not None


def holds_log(line: str) -> bool:
    """Return whether the line contains the form of a log line."""
    return _HINT.search(line) is not None and _ANY.search(line) is not None
