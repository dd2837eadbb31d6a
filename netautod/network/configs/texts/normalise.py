"""The normalised text of a configuration: what is hashed and compared to tell whether it changed."""

import hashlib
import hmac

from netautod.secrets.redaction.announced.spans import replaced
from netautod.transport.ssh.platform.general_secrets import TOKEN_DIGITS, general_secrets, is_token
from netautod.transport.ssh.platform.long_secrets import hide_long_secrets
from netautod.transport.ssh.platform.model import Platform, SecretPattern
from netautod.transport.ssh.platform.redact import without_blocks


def normalise(text: str, platform: Platform, key: bytes) -> str:
    """Return the text without what changes by itself; two reads of an idle device give the same.

    Noise lines and noise pieces go. A secret whose shown form is stable becomes `<secret:xxxxxxxx>`, eight
    hex digits of HMAC-SHA256 under `key`: a changed password is a change, and the token does not reveal the
    password. A secret that the device encrypts anew for each read becomes `<secret>`. The password hashes of
    a Linux host (/etc/shadow) do not occur: the platform does not capture them.
    """
    noise = platform.is_noise
    parts = platform.any_noise_part
    others, begins_long = platform.config_lines.others, platform.any_long_secret.match
    lines = text.split("\n")
    odd = others(lines)
    if any(begins_long(lines[at]) for at in odd):
        lines = list(hide_long_secrets(lines, platform, lambda item, secret: _token(item, secret, key)))
        odd = others(lines)
    whole = "\n".join(lines)
    if (without := without_blocks(whole, lambda secret: secret_token(secret, key))) != whole:
        lines = without.split("\n")
        odd = others(lines)
    dropped: set[int] = set()
    for at in odd:
        line = lines[at]
        kept = parts.sub("", line).rstrip()
        if noise(line) or (not kept and line.strip()):
            dropped.add(at)  # noise from end to end
        else:
            lines[at] = _hide(kept, platform, key)
    if dropped:
        lines = [line for at, line in enumerate(lines) if at not in dropped]
    return "\n".join(lines).strip("\n") + "\n"


def secret_token(secret: str, key: bytes) -> str:
    """Return the stand-in for a secret; the same for the same secret under the same organization key."""
    digest = hmac.new(key, secret.encode("utf-8", errors="surrogateescape"), hashlib.sha256).hexdigest()
    return f"<secret:{digest[:TOKEN_DIGITS]}>"


def _token(item: SecretPattern, secret: str, key: bytes) -> str:
    return secret_token(secret, key) if item.shown == "stable" else "<secret>"


def _hide(line: str, platform: Platform, key: bytes) -> str:
    for item in platform.secrets:
        match = item.pattern.match(line)
        if match is not None and not is_token(match["secret"]):
            token = _token(item, match["secret"], key)
            line = line[: match.start("secret")] + token + line[match.end("secret") :]
    return replaced(line, general_secrets(line, platform.visible), lambda secret: secret_token(secret, key))
