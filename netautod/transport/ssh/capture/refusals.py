"""The recognition of a refusal by words that devices of all vendors use, where a platform's own phrases do
not match.

A device that is not the platform it is taken for, or that has a release with other words, still refuses in
one of few ways. The forms are those of the rows of tests/data/refusals.tsv; among them are the failure
phrases of scrapli (failed_when_contains of its drivers for IOS XE, IOS XR, NX-OS and Junos, and of
scrapli_community's for VRP, Comware, AOS-CX, SR OS, FTD and Dell) and of Ansible (terminal_stderr_re of EXOS,
SR OS and FRR).

Only a short output is a refusal, and only by how its first or its last lines begin: configurations quote such
words, in banners and descriptions.
"""

import re
from collections.abc import Sequence

_MOST_LINES = 8
_MOST_CHARACTERS = 2000
_EDGE = 3
_THING = (
    r"(?:input|command|cmd|action|keyword|parameter|argument|option|syntax|token|word|value|request|entry|"
    r"object|path|expression|character|operand|verb|element|statement|attribute|identifier|line|user|mode)"
)
_FORMS = (
    # unknown or malformed
    rf"(?:invalid|unknown|unrecogni[sz]ed|unsupported|illegal|bad|wrong|unexpected"
    rf"|undefined) (?:\S+ ){{0,2}}{_THING}s?\b",
    r"(?:the )?(?:command|cmd|input|action|verb|keyword)[^.]{0,60}(?:not|n't) (?:be )?(?:found"
    r"|recogni[sz]ed|supported|"
    r"available|valid|exist|known|defined|enabled|executed|implemented|understood|allowed|permitted)",
    r"(?:syntax|parse|parsing|cli|command|parser|input|execution) (?:error|failed|failure|fail|rejected"
    r"|incomplete|unknown|invalid)\b",
    r"no (?:valid completions|such (?:command|file|action|item|object|keyword)|matching (?:command|entry)"
    r"|match found)",
    r"(?:expected|missing|required) (?:end of command|command name|closing|argument|parameter|keyword"
    r"|option|operand|value)",
    r"(?:unrecognized|invalid|unknown|incomplete|ambiguous)\W*$",
    r"too (?:many|few) (?:parameters|arguments|tokens|words|options)",
    r"usage:",
    # incomplete, ambiguous
    r"(?:incomplete|ambiguous|partial|truncated|unfinished) (?:command|input|keyword|parameter|path|word)",
    r"(?:command|input) (?:is )?(?:incomplete|ambiguous|too long)",
    # permission
    r"(?:permission|access|request|command|authori[sz]ation|authentication|operation) (?:is |was |has been )?"
    r"(?:denied|failed|rejected|refused|forbidden|required|failure|error|not (?:permitted|allowed"
    r"|authori[sz]ed|available|supported))",
    r"command authori[sz]ation",
    r"(?:not|un)[ -]?(?:authori[sz]ed|permitted|allowed|privileged)\b",
    r"(?:insufficient|not enough|no|inadequate|lacking) (?:\S+ ){0,2}(?:privileges?|permissions?|rights"
    r"|authority|authori[sz]ation|access(?!-))\b",
    r"(?:you|this user|user|your account)(?: \S+)? (?:do not|don't|does not|are not|is not|have no|has no"
    r"|lack|must|need|may not|cannot)\b",
    r"(?:(?:root|admin\S*|superuser) )?privileges? (?:level )?(?:denied|too low|error|insufficient"
    r"|(?:is |are )?required)",
    r"sudo: (?:a|no) (?:password|terminal|tty)\b",
    r"login (?:failed|incorrect|denied)\b",
    # busy, locked, later
    r"(?:the )?(?:system|device|switch|router|config\S*|database|datastore|running\S*|startup\S*|nvram"
    r"|file|flash|candidate|resource|server|line)"
    r"(?: \S+){0,4} (?:busy|locked|in progress|not ready|being \S+|unavailable|not available|in use"
    r"|initiali[sz]ing|booting|restarting)(?![\w-])",
    r"(?:please )?(?:try|retry)(?: \S+){0,3} (?:again|later)",
    r"please (?:wait|retry|log ?in|login|enter|select|specify)\b",
    r"(?:another|other) (?:\S+ ){0,3}(?:user|session|process|command|operation|administrator|instance)\b",
    r"(?:operation|command|save|commit|rollback|upgrade|sync\S*) (?:is )?(?:already "
    r"|still )?(?:in progress|running|pending|timed out|aborted|cancell?ed)",
    r".{0,80}\b(?:try again|retry|come back) ?(?:later|in|after|\.|$)",
    r"(?:resource|service|temporar\S*) (?:temporarily )?(?:busy|unavailable)",
    # licences, sessions, contexts
    r"(?:\S+ ){0,4}licen[sc]e (?:\S+ ){0,3}(?:required|expired|invalid|missing|installed|not|found|does)\b",
    r"(?:this )?(?:feature|function\S*|command|option)(?: \S+){0,4} (?:requires?|needs?|licen[sc]ed"
    r"|disabled|not enabled|not supported|not available)\b",
    r"(?:requires|no valid|no) (?:\S+ ){0,3}licen[sc]e",
    r"(?:too many|maximum(?: number of)?|max) (?:\S+ ){0,3}(?:users|sessions|connections|logins"
    r"|processes)\b(?! \d)",
    r"(?:the |your )?(?:user )?(?:session|login|connection)(?: \S+){0,4} (?:limit\S*|exceeded|expired"
    r"|timed out|timeout|terminated|closed|reached)",
    r"(?:session|connection) limit (?:reached|exceeded|is)",
    r"(?:the )?(?:vdom|vsys|context|vrf|partition|domain|tenant|virtual[ -](?:system|domain|context)"
    r"|namespace)s?(?: \S+){0,5} "
    r"(?:required|not|unknown|invalid|first|selected|exist|disabled|specified)\b",
    r"not (?:supported|available|found|valid|applicable|implemented|in)\b",
    # faults
    r"(?:cannot|can't|can not|could not|couldn't|unable to|failed to|fail to|failure|failed|not able to)\b",
    r"(?:internal|system|fatal|unexpected|memory|general|protocol|rpc|backend|database|timeout|i/o"
    r"|software|communication) (?:error|failure|fault)\b",
    r"(?:out of|not enough|insufficient) (?:memory|resources?|space|buffers?)",
    r"(?:timed out|timeout|operation timed out|aborted|rejected|denied|refused)\b",
    r"(?:\S+ )?(?:process|daemon|service|module) (?:\S+ ){0,3}(?:not running|not responding|unreachable"
    r"|died)",
    r"is not (?:recogni[sz]ed|a (?:valid|known)|supported|allowed|permitted)",
    r"type (?:help|\?|'\S+') (?:or|for|to)\b",
    r"(?:use|enter|see|try) (?:'?\?'?|'?help'?)(?: |\.|$)",
    r"return code -?\d+|command fail",
    r"(?:available commands|(?:next )?possible completions)\s*:",
    r"ambiguous (?:token|value|argument)\b",
    r"incorrect (?:usage|input|command)\b",
    r"(?:action |operation )?(?:timed out|cancell?ed|interrupted)(?: -|\W*$)",
    r"invalid internal\b",
    r"(?:rbac|read|write) (?:permission|access) denied",
    r"(?:\S+ ){1,3}open failed\b",
    r"you have (?:insufficient|no|not)\b",
    r"module (?:\S+ ){0,6}(?:is busy|not present)\b",
    r"(?:error|err|erro|fehler|erreur)\b(?!-)(?: ?(?:code )?-?\d+| ?[:!]|\s*$| (?:in|at|while|from|response"
    r"|executing|processing|opening|reading|getting)\b)",
)
# What may stand before the words: %, ^, the shell or command that complains, brackets with a code.
_LEAD = (
    r"^(?:[\s%^*#!>\-.:\[\]]|\d+\b)*"
    r"(?:(?:-?[a-z]{0,6}sh(?:ell)?|cli|line|error|err|err\d+|warning|warn|note|notice|message|info|failure"
    r"|fail|fatal|result|cmd|aaa|at line [\d/]+|tacacs\+?|e\d+)"
    r"(?:[\s:%!\-\]#]+|\s*\d+[:\s]+|\(\S+\)[:\s]*))*"
)
# What no configuration begins a line with: a message of Cisco's kind, a code of Gaia, SR OS or TMOS.
_MESSAGE = (
    r"\s*(?:%+ {0,2}[a-z\[\"]|(?:CL|NMS)[A-Z]{3,4}\d{4} |(?:MINOR|MAJOR|CRITICAL): |INFO: [A-Z_]+ #\d"
    r"|\d{8}:\d: )"
)
_REFUSAL = re.compile(f"{_MESSAGE}|{_LEAD}(?:{'|'.join(_FORMS)})", re.IGNORECASE)
_TAIL = re.compile(
    r"(?:: ?(?:command |cmd )?not found|: permission denied|: no such file or directory"
    r"|: inaccessible or not found"
    r"|is (?:an )?(?:ambiguous|unknown|invalid|incomplete)(?: \S+)?|(?:is"
    r"|are) not (?:\S+ )?(?:recogni[sz]ed|found|supported|allowed|permitted|authori[sz]ed|available|valid"
    r"|a \S+ command)(?: \S+){0,4}"
    r"|(?:does not|doesn't) exist|not (?:permitted|authori[sz]ed|recogni[sz]ed)|command(?: |$)unknown"
    r"|[^\w\s]\s{0,4}(?:access denied|permission denied|unknown command|invalid (?:command|input)))"
    r"[\s.!\"']*$",
    re.IGNORECASE,
)


def refusing_lines(texts: Sequence[str]) -> list[str]:
    """Return the lines that show a short output to be a refusal; none if it is not one.

    What follows a refusal in the first line belongs to it: the commands that there are.
    """
    if sum(map(len, texts)) > _MOST_CHARACTERS:
        return []
    filled = [line for text in texts for line in text.split("\n") if line.strip()]
    if len(filled) > _MOST_LINES:
        return []
    if filled and _refuses(filled[0]):
        return filled
    edges = filled if len(filled) <= 2 * _EDGE else [*filled[:_EDGE], *filled[-_EDGE:]]
    return [line for line in edges if _refuses(line)]


def _refuses(line: str) -> bool:
    return _REFUSAL.match(line) is not None or _TAIL.search(line) is not None
