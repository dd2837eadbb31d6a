"""What devices print, redacted for readers without the permission to see secrets."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from netautod.core.redaction.patterns import HIDDEN, without_secret_patterns
from netautod.ssh.encoding import readable
from netautod.ssh.platform.line_memory import LineMemory
from netautod.ssh.platform.long_secrets import hide_long_secrets, is_token
from netautod.ssh.platform.model import Platform, SecretPattern

# Encryption types and algorithm names stand between the keyword and the secret: `key 7 ...`, `auth sha ...`.
_BETWEEN = (
    r"(?:\s*[:=]\s*|\s+)"
    r"(?:(?:encrypted|encryption|hash|(?:irreversible-)?cipher|simple|plain-?text|level|ENC|md5|sha\d*|"
    r"ascii(?:-text)?|local|remote|\d{1,2})\s+)*"
)
_WORDS = (
    r"(?:passwords?|passwd|passphrase|pass-phrase|passkey|password-(?:hash|value|admin)|phash|secret|community|"
    r"psk|psksecret|pre-shared-key|shared-secret|key-string|authentication-key|encryption-key|auth-password|"
    r"priv-password|auth-key|auth-pwd|priv-pwd|private-key|api-key|apikey|token|key|ciphertext|plaintext)"
)
# Looks ahead: what follows may itself announce the secret behind it, as in `psk set-key ascii 0 ...`.
_KEYWORD = re.compile(rf"(?i)(?<![^\s\"'_.-]){_WORDS}\"?{_BETWEEN}(?=(?P<secret>\"[^\"]*\"|'[^']*'|\S+))")
_SNMP_USER = re.compile(
    r"(?i)\b(?:auth|priv)\s+(?:md5|sha[\d-]*|3des|des\d*|aes(?:[\s-]+\d+)?)\s+(?:(?:encrypted|clear|key\s+\d)\s+)?"
    r"(?P<secret>\S+)"
)
# Without a word for it, and so on devices too whose device_type is not that of their platform.
_SNMP_HOST = re.compile(
    r"(?i)\bsnmp-server\s+host\s+\S+(?:\s+vrf\s+\S+)?(?:\s+(?:traps|informs))?"
    r"(?:\s+version\s+(?:1|2c|3\s+\w+))?\s+(?!(?:version|traps|informs|vrf)\b)(?P<secret>\S+)"
)
_REDUNDANCY = re.compile(
    r"(?i)\b(?:standby|vrrp|glbp)\s+(?:\d+\s+)?authentication\s+(?:text\s+)?(?!md5\b)(?P<secret>\S+)"
)
# The secret stands at a place of its own, behind no word that announces it.
_PLACES = re.compile(
    r"(?i)(?:\bsnmp-agent\s+community\s+(?:read|write)\s+(?:(?:cipher|simple)\s+)?"
    r"|\bip\s+nhrp\s+authentication\s+"
    r"|\bspi\s+\d+\s+(?:esp\s+)?(?:md5|sha\d*)\s+(?:\d\s+)?"
    r"|\b(?:mgmtuser|netuser)\s+add\s+\S+\s+"
    r"|\bradius\s+(?:auth|acct)\s+add\s+\d+\s+\S+\s+\d+\s+(?:ascii|hex)\s+"
    r"|\bcreate\s+account\s+\w+\s+\S+\s+(?:encrypted\s+)?)(?P<secret>\S+)"
)
# The password of a URL (RFC 3986 3.2.1), as in `path scp://user:password@host/file`.
_LOGIN = re.compile(r"://[^\s/:@\"']*:(?!\d+/)(?P<secret>[^\s@]+)@")
_CRYPT = re.compile(r"(?P<secret>\$(?:1|2[abxy]|5|6|8|9|14|y|sha1|sha512)\$[^\s\";]+)")
_NETS = (_KEYWORD, _SNMP_USER, _SNMP_HOST, _REDUNDANCY, _PLACES, _LOGIN, _CRYPT)
_PEM = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?P<secret>.*?)(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_BLANK = re.compile(r"\s")
# A longer line is looked at piece by piece: one expression holds the interpreter until it is done. Pieces lap
# over each other, so that what announces a secret stands in one piece with it.
PIECE, LAP = 4096, 512
_QUOTED = 1024  # characters of a text that are looked at to quote a few of them
# No general pattern matches a line without any of these; most lines are like that.
_SUSPECT = re.compile(
    r"(?i)pass|secret|communit|psk|key|token|auth|priv|snmp-server|cipher|plaintext|phash|netuser|mgmtuser|"
    r"account|://|\$"
)


def clean_lines(platform: Platform) -> LineMemory:
    """Remembers the lines in which nothing is hidden, to redact many texts of the platform."""
    suspect, has_secret = _SUSPECT.search, platform.any_secret.match
    return LineMemory(lambda line: len(line) <= PIECE and suspect(line) is None and has_secret(line) is None)


def redact(text: str, platform: Platform, clean: LineMemory | None = None) -> str:
    """The text with every secret replaced by `<hidden>`, as the platform and general patterns find them.

    The general patterns hide too much rather than too little (the word after `key` or `password`, hashes in
    crypt(3) form, private keys in PEM form). Tokens of `normalise` stay, so a diff of normalised texts still
    shows that a password changed. `clean` (see `clean_lines`) is passed from one text of the platform to the
    next.
    """
    text = _PEM.sub(lambda match: f"{match[1]}\n{HIDDEN}\n{match[3]}", text)
    is_clean = (clean or clean_lines(platform)).is_plain
    lines = list(hide_long_secrets(text.split("\n"), platform, lambda item, secret: HIDDEN))
    for number, line in enumerate(lines):
        if not is_clean(line):
            lines[number] = _redact_line(line, platform.secrets)
    return "\n".join(lines)


def redact_line(line: str, platform: Platform) -> str:
    """One line of a text as `redact` shows it. Of a private key in PEM form it knows nothing."""
    if len(line) > PIECE or _SUSPECT.search(line) or platform.any_secret.match(line):
        return _redact_line(line, platform.secrets)
    return line


def quoted(text: str, platform: Platform | None = None, *, most: int = 120) -> str:
    """What a failure may quote of a text that the device chose: its first characters without secrets.

    Failures are read by people who may not see secrets, and stand in logs and events.
    """
    text = without_secret_patterns(text.strip()[:_QUOTED])
    return readable(_redact_line(text, () if platform is None else platform.secrets)[:most])


def _redact_line(line: str, secrets: Sequence[SecretPattern]) -> str:
    shown, done = "", 0
    for start, end in sorted(_secrets_in(line, secrets)):
        if start >= done:
            shown += line[done:start] + HIDDEN
        done = max(done, end)
    return shown + line[done:]


def _secrets_in(line: str, secrets: Sequence[SecretPattern]) -> Iterator[tuple[int, int]]:
    """Where each one begins and ends."""
    for start in range(0, max(len(line) - LAP, 1), PIECE - LAP):
        end = start + PIECE
        own = (item.pattern.match(line, start, end) for item in secrets)
        for match in chain(own, *(net.finditer(line, start, end) for net in _NETS)):
            if match is not None and not is_token(match["secret"]) and match["secret"] != HIDDEN:
                yield match.start("secret"), _end_of(match, line, end)


def _end_of(match: re.Match[str], line: str, piece: int) -> int:
    """The end of the secret, which may go on behind the piece of the line."""
    secret, end = match["secret"], match.end("secret")
    if piece >= len(line):
        return end
    if secret[0] in "\"'" and (len(secret) == 1 or secret[-1] != secret[0]):
        return line.find(secret[0], end) + 1 or len(line)
    following = _BLANK.search(line, end) if end == piece else None
    return end if end < piece else len(line) if following is None else following.start()
