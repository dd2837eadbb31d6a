"""What stays readable behind a word that announces secrets: names, communities of BGP, free text."""

import re

from netautod.core.redaction.announced.vocabulary import words

# Behind one of these stands a name that somebody chose, and it may contain any word.
_NAMES = words("""
    interface interfaces access-list extended standard prefix-list route-map vrf class-map policy-map
    access-group object-group key-chain keychain hostname host-name sysname policy-statement prefix-set
    as-path community-list extcommunity-list large-community-list community-set route-policy ip-prefix
    service-policy route-filter vlan zone-pair ip-group filter-list distribute-list as-path-set rd-set
    acl-policy prefix-filter-list trustpoint ca-profile
""")
_BEFORE = re.compile(r"([\w.-]+)[\s\"']+$")
_FREE_TEXT = re.compile(
    r"(?i)\s*(?:(?:set|add|no|undo)\s+)?(?:(?:[\w./-]+\s+){0,8}?(?:description|remark|location|contact|"
    r"alias-text)\b|[!#;]|//|/\*|\*\s)"
)
# A community of BGP: by its value, by the word before it, by what stands elsewhere on the line.
_BGP_VALUE = re.compile(
    r"[\[({\"'\s]*(?:(?:target|origin|rt|soo|large|color|bandwidth|route-target|ext):)?[\dx*.^$_|"
    r"+?()\[\]-]*\d[\w*.^$_|+?()\[\]-]*:[\w.*^$_|+?:()\[\]-]+"
)
_BGP_NAME = re.compile(
    r"(?i)[\[({\"'\s]*(?:no-export(?:-subconfed)?|no-advertise|local-as|internet|no-peer|"
    r"graceful-shutdown|gshut|"
    r"blackhole|accept-own|llgr-stale|no-llgr|additive|none|planned-shut)\b"
)
_BGP_BEFORE = words("""
    match from then apply if-match send policy-options delete ip large extended ext std standard regular of
    bgp not matches-any matches-every matches-all advertise peer-community additive policy members and or
    route-map in append overwrite bgp-community
""")
_BGP_BEHIND = re.compile(
    r"(?i)\"?[\w.:*^$-]+\"?\s+(?:members\b|additive\b|invert-match|expression\b|exact-match\b)|\[\s*[\w\"]|\("
)
_BGP_VERB = re.compile(r"(?i)(?:add|set|delete|remove|replace|subtract)\s")
_SNMP = re.compile(r"(?i)snmp|rmon|trap")


def names_something(line: str, start: int) -> bool:
    """Whether the word at `start` is a name by the word before it."""
    before = _BEFORE.search(line[max(0, start - 64) : start])
    return before is not None and before[1].lower() in _NAMES


def is_free_text(line: str) -> bool:
    """Whether people wrote the line as they liked: there only words that can mean nothing else announce."""
    return _FREE_TEXT.match(line[:512]) is not None


def says_community(line: str, start: int, value: int) -> bool:
    """Whether the word at `start`, with its value at `value`, is about communities of BGP, not of SNMP."""
    head = line[max(0, start - 512) : start]
    if _SNMP.search(head):
        return False
    before = _BEFORE.search(head)
    return (
        _BGP_VALUE.match(line, value) is not None
        or _BGP_NAME.match(line, value) is not None
        or (before is not None and before[1].lower() in _BGP_BEFORE)
        or _BGP_BEHIND.match(line, value) is not None
        or _BGP_VERB.match(line, value) is not None
        or (before is not None and before[1].lower() == "set" and _sets_in_a_policy(line, start, value))
    )


def _sets_in_a_policy(line: str, start: int, value: int) -> bool:
    """`set community` of a route-map: a number, or, since such lines are indented, any name."""
    return re.match(r"\d+(?:\s|$)", line[value:]) is not None or (
        line[:1].isspace() and "=" not in line[:start]
    )
