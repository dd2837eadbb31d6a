"""The lines that show the time or the uptime of a device: noise on every platform.

They move by the minute, so that two readings of one session may agree; to learn them from readings is not
enough. A line is one only from end to end: behind a mark of a comment a word of time and a value of it;
without the mark only what no device takes as a setting, an uptime or a whole date with its time.
"""

import re

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?"
_DATE = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}"
    rf"|{_MONTH}[-/ ]{{1,2}}\d\d?(?:[-/, ]{{1,2}}\d{{4}})?|\d\d?[- ]{_MONTH}[-, ]{{1,2}}\d{{2,4}})"
)
_ZONE = r"(?: ?(?:Z|[A-Z]{2,5}|[+-]\d\d:?\d\d|\([A-Z]{2,5}\)))?"
_STAMP = (
    rf"(?:{_DAY},? )?(?:{_DATE}(?:,? {{1,2}}|T){_TIME}{_ZONE}(?: \d{{4}}{_ZONE})?"
    rf"|{_TIME}{_ZONE},? (?:{_DAY},? )?{_DATE}(?: \d{{4}})?)"
)
_UNIT = r"(?:years?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[ywdhms])(?![A-Za-z])"
_SPAN = rf"(?:(?:\d+ ?{_UNIT}|\d+:\d\d(?::\d\d)?)(?:,? (?:and )?)?){{1,7}}"
_MARK = r"[!#;:*/]{1,3} {0,3}"
_OF = (
    r"(?:(?:system|device|switch|router|local|current|startup|running|startup-config|running-config"
    r"|configuration|config|nvram|the|sntp|ntp|synchronized) ?)"
)
_WORD = r"(?:date(?: and |/)?(?:time)?|time|clock)"
_UPTIME = rf"(?:{_OF}{{0,2}}up[ -]?time(?: is)?|up since|running since)"
_DONE = (
    r"(?:change[ds]?|modified|saved?|updated?|commit(?:ted)?|written|done|generated|exported|created"
    r"|printed|started|boot(?:ed)?|reboot(?:ed)?|restart(?:ed)?)"
)
_CHANGE = rf"{_OF}{{0,2}}(?:last (?:[\w-]+ ){{0,2}})?{_DONE}"
_JOIN = r"(?: (?:at|on|by \S{1,64}(?: (?:at|on))?))? {0,12}[:=]? {0,3}\"?"
_BY = r"(?:,? (?:by|from|via) [^\n]{1,80})?"
_END = r"[\s.\"]*(?:\*/\s*)?$"
_HOST = r"(?!description|remark|name|alias|banner|comment)\S{1,64}"

_LINES = (
    rf"\s*{_MARK}(?i:{_OF}{{0,3}}{_WORD}(?: is)?{_JOIN}(?:{_STAMP}|{_TIME}{_ZONE}|{_DATE})){_END}",
    rf"\s*{_MARK}(?i:{_UPTIME}{_JOIN}(?:{_STAMP}|{_SPAN})){_END}",
    rf"\s*{_MARK}(?i:{_CHANGE}{_JOIN}{_STAMP}){_BY}{_END}",
    rf"\s*{_MARK}(?i:{_STAMP}) by [^\n]{{1,80}}$",
    rf"\s*(?i:{_UPTIME}) {{0,8}}[:=]? {{0,3}}(?:{_SPAN}|{_STAMP}){_END}",
    rf"{_HOST} uptime is {_SPAN}{_END}",
    rf"\s*(?i:{_OF}{{1,3}}{_WORD}) {{0,8}}[:=] {{0,3}}{_STAMP}{_END}",
    rf"\s*(?:{_MARK})?{_STAMP}\s*$",
)

# One for all platforms: each of them would take longer to compile than all the rest of its definition.
MOVING_LINE = re.compile("|".join(f"(?:{line})" for line in _LINES))
