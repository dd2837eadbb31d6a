"""The exceptions that stay readable behind a word that announces secrets: names, communities of BGP, free
text.
"""

import re

from netautod.secrets.redaction.announced.kinds import is_keyword
from netautod.secrets.redaction.announced.vocabulary import words

# Behind one of these stands a name that a person chose, and it may contain any word.
_NAMES = words("""
    interface interfaces access-list extended standard prefix-list route-map vrf class-map policy-map
    access-group object-group key-chain keychain hostname host-name sysname policy-statement prefix-set
    as-path community-list extcommunity-list large-community-list community-set route-policy ip-prefix
    service-policy route-filter vlan zone-pair ip-group filter-list distribute-list as-path-set rd-set
    acl-policy prefix-filter-list trustpoint ca-profile peer-group
""")
_OF_ALL_PEERS = re.compile(r"(?i)\bsxp\s+connection\s.{1,200}?\spassword\s+(?:default|none)(?:\s|$)")
# The same, if the word is no keyword of the command itself: `neighbor KEY-PEERS`, but `neighbor password`.
_MAY_NAME = words(
    "community username neighbor group service object class policy profile keyring user host map vpn"
)
_NAMED = re.compile(
    r"(?i)\b(?:tunnel\s+key|dot1x\s+credentials|enrollment\s+credential|p1-proposal\s+\S+\s+preshare|ip\s+admission\s+name\s+\S+|ip\s+host\s+\S+|"
    r"snmp\s+v3\s+snmp-community|openssl\s+enc)$"
)
# pam.d(5): a stack of modules for changes of passwords. Of BIND: the name of a key and what is known of it.
_STACK = re.compile(r"password\s+\[[\w=\s]{1,200}\]\s+\S*pam_\w+")
_SECTION = re.compile(r"key\s+\"[^\"\n]{1,200}\"\s*\{")
_BEFORE = re.compile(r"([\w.-]+)[\s\"']+$")
_FREE_TEXT = re.compile(
    r"(?i)\s*(?:(?:set|add|no|undo)\s+)?(?:(?:[\w./-]+\s+){0,8}?(?:description|remark|location|contact|"
    r"alias-text|comments?|syslog\s+msg)\b|[!#;]|//|/\*|\*\s)"
)
_ENGLISH = re.compile(r"[a-z]+(?![^\s,.\"])")
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


def names_something(line: str, start: int, end: int) -> bool:
    """Return whether the word from `start` to `end` is a name, or is followed by one, by the words
    before it.
    """
    before = _BEFORE.search(line[max(0, start - 64) : start])
    if before is None:
        return any(item.match(line, start) is not None for item in (_STACK, _SECTION))
    if before[1].lower() in _NAMES or _is_named(line, start, end):
        return True
    word = line[start:end]
    is_name = not is_keyword(word) or (word.isupper() and before[1].islower())
    return (before[1].lower() in _MAY_NAME and is_name) or (before[1].lower() == "username" and "-" in word)


def _is_named(line: str, start: int, end: int) -> bool:
    """Return whether a name stands behind the word at `start`, or the word `default` for the secret of all
    peers.
    """
    return (
        _NAMED.search(line, max(0, start - 256), end) is not None
        or _OF_ALL_PEERS.search(line, max(0, start - 256), end + 16) is not None
    )


def free_text(line: str) -> int:
    """Return where free text begins, which goes on to the end: in it only words without another meaning
    announce.
    """
    found = _FREE_TEXT.match(line[:512])
    return len(line) if found is None else found.end()


def is_plain_english(line: str, at: int) -> bool:
    """Return whether the free text goes on at `at` with a word in small letters, and is no comment."""
    return line.lstrip()[:1] not in ("!", "#", ";", "/", "*") and _ENGLISH.match(line, at) is not None


def says_community(line: str, start: int, value: int) -> bool:
    """Return whether the word at `start`, with its value at `value`, is about communities of BGP, not of
    SNMP.
    """
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
    """Return whether this is `set community` of a route-map: a number, or, since such lines are indented, any
    name.
    """
    return re.match(r"\d+(?:\s|$)", line[value:]) is not None or (
        line[:1].isspace() and "=" not in line[:start]
    )
