"""The SSH profiles: which algorithms we offer to modern, older and very old devices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from netautod.core.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class SshProfile:
    """A profile: algorithm names of RFC 4253 and its successors, best first.

    The lists of an older profile begin with those of the newer one, in the same order: a device that changes
    its profile still answers with the host key that is pinned.
    """

    name: str
    key_exchanges: tuple[str, ...]
    host_keys: tuple[str, ...]
    ciphers: tuple[str, ...]
    macs: tuple[str, ...]


# Names and their ages: OpenSSH's release notes 7.0 to 8.8 and its page of legacy options
# (https://www.openssh.com/legacy.html); SHA-1 signatures and exchanges are "compatible", 1024-bit groups, CBC
# and DSA are "legacy". Cisco IOS 15 offers diffie-hellman-group14-sha1, ssh-rsa, aes-ctr and hmac-sha1.
_MODERN = SshProfile(
    name="modern",
    key_exchanges=(
        "curve25519-sha256",
        "curve25519-sha256@libssh.org",
        "ecdh-sha2-nistp256",
        "ecdh-sha2-nistp384",
        "ecdh-sha2-nistp521",
        "diffie-hellman-group14-sha256",
        "diffie-hellman-group16-sha512",
        "diffie-hellman-group-exchange-sha256",
    ),
    host_keys=(
        "ssh-ed25519",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "rsa-sha2-256",
        "rsa-sha2-512",
    ),
    ciphers=(
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "chacha20-poly1305@openssh.com",
        "aes128-ctr",
        "aes192-ctr",
        "aes256-ctr",
    ),
    macs=(
        "hmac-sha2-256-etm@openssh.com",
        "hmac-sha2-512-etm@openssh.com",
        "hmac-sha2-256",
        "hmac-sha2-512",
    ),
)
_COMPATIBLE = SshProfile(
    name="compatible",
    key_exchanges=(
        *_MODERN.key_exchanges,
        "diffie-hellman-group14-sha1",
        "diffie-hellman-group-exchange-sha1",
    ),
    host_keys=(*_MODERN.host_keys, "ssh-rsa"),
    ciphers=_MODERN.ciphers,
    macs=(*_MODERN.macs, "hmac-sha1-etm@openssh.com", "hmac-sha1"),
)
_LEGACY = SshProfile(
    name="legacy",
    key_exchanges=(*_COMPATIBLE.key_exchanges, "diffie-hellman-group1-sha1"),
    host_keys=(*_COMPATIBLE.host_keys, "ssh-dss"),
    ciphers=(*_COMPATIBLE.ciphers, "aes256-cbc", "aes192-cbc", "aes128-cbc", "3des-cbc"),
    macs=(*_COMPATIBLE.macs, "hmac-sha1-96", "hmac-md5", "hmac-md5-96"),
)
PROFILES: Mapping[str, SshProfile] = MappingProxyType(
    {profile.name: profile for profile in (_MODERN, _COMPATIBLE, _LEGACY)}
)

# asyncssh.KeyExchangeFailed says: No matching <kind> algorithm found, sent <ours> and received <theirs>
_SHOWN = 2000  # characters of what a device offers, which may be a packet full of names
_MISMATCH = re.compile(r"No matching (?P<what>.+?) algorithm found, sent \S+ and received (?P<offered>\S+)")


def profile_named(name: str) -> SshProfile:
    """Return the profile of that name; InvalidInput names the three that exist."""
    if name not in PROFILES:
        raise InvalidInput(f"ssh_profile must be one of {', '.join(PROFILES)}, not {name!r}")
    return PROFILES[name]


def explain_mismatch(reason: str, current: str) -> str:
    """Return the end of a sentence: what the device offers and which profile to choose.

    `reason` is the text of `asyncssh.KeyExchangeFailed`, `current` the name of the profile that failed.
    """
    match = _MISMATCH.search(reason)
    if match is None:
        return f"no common SSH algorithm ({reason[:_SHOWN]})"
    offered = match["offered"].split(",")
    advice = _profile_for(offered)
    sentence = f"no common {match['what']} algorithm: it offers only {', '.join(offered)[:_SHOWN]}"
    if advice is None:
        return f"{sentence}, which no SSH profile supports"
    if advice == current:  # the device's own view differs from ours; naming the same profile would not help
        return sentence
    return f"{sentence}; choose the SSH profile '{advice}' for this device"


def _profile_for(offered: list[str]) -> str | None:
    for profile in PROFILES.values():
        known = {*profile.key_exchanges, *profile.host_keys, *profile.ciphers, *profile.macs}
        if known.intersection(offered):
            return profile.name
    return None
