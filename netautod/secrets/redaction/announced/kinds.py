"""The kinds of words that announce a secret, and how each kind tells its value from other words.

Sources: the configuration guides and command references of the vendors of the platforms; the parts of words
were collected from the secret filters of Oxidized's models and RANCID's password filters.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from netautod.secrets.redaction.announced.vocabulary import words


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The kind of secret that an announcing word announces.

    With one of the `harmless` words directly behind it, it announces nothing. `weak`: any word that devices
    use stays readable, only others are values. `ids`: numbers before the value are ids, and a short one alone
    is an id itself, if `alone`. `sentence`: a value in clear text may be several words.
    """

    name: str
    harmless: frozenset[str]
    weak: bool = False
    ids: bool = False
    alone: bool = False
    sentence: bool = False


PASSWORD = Kind(
    name="password",
    sentence=True,
    harmless=words("""
    policy policies strength complexity expire expires expiry expiration aging age history length minimum
    maximum min max min-length max-length minimum-length maximum-length encryption recovery required prompt
    change changed changes check lockout lifetime enable enabled disable disabled on off yes no true false
    manager-only control quality retry retries reset generation validation rules rule restriction
    restrictions warning authentication-only format formats management protection protect storage update
    expired never unlimited attempts attempt timeout timeouts grace security-level based default-change
    requisite include sufficient substack
    aging-time count authentication sync-mode synchronize synchronization configuration-server
    controller-based bucket ring rate burst minimum-age maximum-age delay suppress lower-case upper-case
    special-char numeric-count and or not must should authenticated constraints change-interval min-letters
    minimum-classes numbers fail-open from algorithm min-changes minimum-changes minimum-lower-cases
    minimum-upper-cases minimum-numerics minimum-punctuations minimum-character-changes minimum-reuse
    change-type configuration-control auto-generate requirements quick all in out any login-lock encrypt-level
    none rollover keychain key-chain inheritance-disable option profile public-key encryption-key
"""),
)
KEY = Kind(
    name="key",
    ids=True,
    alone=True,
    harmless=words("""
    chain chains generate zeroize export pubkey-chain mypubkey exchange id ids size length type lifetime
    storage pair pairs management agreement usage usages derivation server ring list source update version
    trustpoint label policy match selector wrap algorithm algorithms name default-key-id range rotation
    rollover renewal refresh timeout interval enable enabled disable disabled none required optional auto
    chain-name hash-type tolerance infinite any all in from to on off yes no true false modulus bits
    mismatch change permit deny expansion certificate certificates signature encipherment cert-sign and or
    column columns index-type vrf domain-name replay-protection unique mapping restrict primary-key file
    filename based not accept-lifetime send-lifetime sequence scheme schemes query agent-forwarding press
    fields field constraint mode common family config-key rsa dsa ecdsa ed25519 mypubkey import eigrp
    key-chain keychain
"""),
)
# Numbers of keys stand behind them only before the key itself.
KEY_TEXT = replace(KEY, name="text of a key", alone=False)
COMMUNITY = Kind(
    name="community",
    harmless=words(
        "matches-any matches-every matches-all list set filter rw-view both standard extended la"
        "rge map-table mapping members count permit deny match-any map"
    ),
)
CIPHER = Kind(
    name="cipher",
    weak=True,
    harmless=words(
        "suite suites list mode strength order preference server-preference tlsv1 tlsv1.1 tlsv1.2 dtlsv1"
    ),
)
HASH = Kind(
    name="hash",
    weak=True,
    harmless=words("""
    algorithm algorithms function type key-type seed-type mode load load-balance polarization offset table
    size src-ip dst-ip src-mac dst-mac src-dst-ip src-dst-mac source-ip destination-ip l3 l4 l2 ip ipv4 ipv6
    mpls fields symmetric resilient persistence balance source destination both client-ip cookie uri header
"""),
)
ALGORITHM = Kind(name="algorithm", weak=True, harmless=frozenset())
PRIVACY = Kind(name="privacy", weak=True, harmless=words("read write notify context access match -v -s"))
PRIVATE = Kind(
    name="private",
    weak=True,
    harmless=words("key keys key----- keys----- use as address addresses group ip vlan"),
)

# Parts of words, and words that are glued to others: `ldapBindPassword`, `psksecret`.
_EXACT: tuple[tuple[Kind, frozenset[str]], ...] = (
    (
        PASSWORD,
        words(
            "requirepass masterauth preshare pass pin otp totp hotp psk psks passcode bindpw rootpw token t"
            "okens wpa-psk puk non"
            "ce seed userpass nthash"
        ),
    ),
    (KEY, words("key keys cak sak pmk wepkey keyring-secret keydata sshkey prv privkey tsig")),
    (
        COMMUNITY,
        words("community communities rocommunity rwcommunity rocommunity6 rwcommunity6 trapcommunity comm"),
    ),
    (CIPHER, words("cipher ciphertext encrypted enc plaintext cleartext encr irreversible")),
    (HASH, words("hash phash digest hashed bcrypt crypt salt")),
    (PRIVACY, words("priv")),
)
_GLUED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        PASSWORD,
        re.compile(
            r"passw(?!ordless)|passcrypt|passphrase|passcode|passkey|secret(?!ar)|credential|psk|"
            r"pwd|token|apikey|"
            r"(?:user|admin|root|db|ldap|radius|wifi|wlan|login|auth|enable|ftp|sql|proxy|smtp|"
            r"mail|ppp|pppoe|web|bind|vpn|"
            r"snmp|key|sudo|http|my|ssh|client|server|account|secure|priv)pass$|(?:bind|root|"
            r"user|admin|auth|ldap)pw$"
        ),
    ),
    (COMMUNITY, re.compile(r"community(?:string)?$")),
    (KEY, re.compile(r"(?<!mon)(?<!tur)(?<!hot)(?<!don)(?<!joc)(?<!hoc)(?<!whis)key$|keystring|keyphrase")),
    (HASH, re.compile(r"(?:pass|pw|user|md5|sha\d*)hash$")),
)
_ALGORITHM_WORD = re.compile(
    r"(?:(?:auth|encrypt|priv|hmac|tcp|ah)-?)?(?:md5|sha-?\d*(?:-\d+)*)(?:-96|-128)?|"
    r"(?:aes-?\d*-?)?cmac(?:-aes)?(?:-?\d+)*|"
    r"(?:(?:encrypt|priv)-)?(?:aes|des|3des|tdes|blowfish)(?:-?(?:\d+|cbc|cfb|ede|gcm|ctr))*|sm4|chap-md5|keyed-(?:md5|"
    r"sha\d*)|ssha\d*"
)
# Behind the part that announces: it is a word about secrets, their rules and names.
_ABOUT = words("""
    policy policies encryption control length timeout timeouts type types id ids size chain chains exchange
    lifetime list lists algorithm algorithms algo mode expire expires expiry expiration age aging history
    retries retry attempts strength complexity quality method methods server servers order profile profiles
    group groups name names file filename path url uri set sets filter filters count counts limit min max
    minimum maximum interval rotation recovery reset change changed required only acl vlan vrf net network
    pool map-name level format version usage rsa dsa ecdsa ed25519 pub public request requests regenerate
    regeneration generation source storage holder status state enable enabled disable disabled prompt check
    authentication auth-type delegation bits modulus index trap traps users keychain keychains keyring class
    lockout lock locked hold grace warn warning date time updated update modified bucket rate burst ring tag
    tags refresh rollover replication management manager description desc label alias match certs cert
    certificate fingerprint thumbprint checksum protection sharing caching cache column provider providers
    mgmt store vault port host hosts address match-all match-any polarization balance balancing rule
    rules in out inbound outbound ref reference view protocol protocols ttl pair pairs
""")
_PARTS_OF_KEYWORDS = words("""
    cpwd epwd encr password passwd passphrase pass phrase pwd secret secrets key keys string psk pre shared
    community name token hash cipher ciphertext plaintext plain text encrypted auth authentication priv
    privacy private shared encryption ascii hex hexadecimal chap pap user admin api md5 sha sha1 sha256 enable
    login bind ldap radius tacacs server client local remote ipsec ike ppp wpa wpa2 wpa3 wep preshared value
    digest message id simple session cak credential credentials localized hashed snmp read write ro rw trap
    get set master root hello domain area lsp line phash irreversible aes des
""")
_RULES = words("""
    strength check length policy minimum min maximum max expire expiry expiration history timeout retries
    lifetime complexity lockout interval threshold recovery algorithm days
""")
# Before it: a word about something public, or a number of a policy.
_PUBLIC = words("""
    public pub authorized trusted known min max minimum maximum no bgp send large ext extended std
    well-known advertise allow require enforce change strong weak foreign primary-foreign match show hide
    reset forgot host hostkey disable disallow
""")
_PUBLIC_OF_KEYS = words("host ssh rsa dsa ecdsa ed25519 peer-public server-host registry function soft sort")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")
_HARMLESS = words("""
    pubkey pubkey-chain keyboard keyboard-interactive keychain keyring keyrings keepalive keyed-hash passive
    passed password-encryption token-ring token-bucket tokenring pass-through passthrough hashing
    community-list community-set extcommunity ext-community large-community send-community secretary keypair
    key-pair keypairs encrypted-traffic encrypted-only comm-port key-usage login-authentication
    password-auth password-authentication passwordauthentication passwordless nopassword no-password
    key-contact encrypted-disk pass-traffic security-association keyword keywords match-key group-key-id
    secretlint key-management tokenize encrypt-method authentication-key-chain authentication-key-chains
    send-community-ebgp authentication-keychain keychain-name multi-key-mode hash-key-type key-mode
    ssh-key-type ldap-password-attribute password-attribute authpriv authnopriv noauthnopriv auth-priv
    certkey unsupported-cipher-suites hardware-token rekey re-key rekeying security-community-list
    token-server key-server private-vlan credential-download publickey hostkey hash_seed ecmp_hash_seed
    hash-distribution broadcast-key config-key sshpass passwdcfg
""")
_EXCEPTIONS = {
    "community-name": COMMUNITY,
    "communityname": COMMUNITY,
    "community-group": COMMUNITY,
    "password_encryption": PASSWORD,
    "password-level": PASSWORD,
    "community-map": COMMUNITY,
    "public-community": COMMUNITY,
    "license-key": KEY,
    "password-admin": PASSWORD,
    "set-community": COMMUNITY,
    "get-community": COMMUNITY,
    "key-name-string": KEY,
    "key-hash": HASH,
    "key-value": KEY,
    "key-string": KEY_TEXT,
    "authentication-key": KEY_TEXT,
    "shared-key": KEY_TEXT,
    "authentication-hex": PASSWORD,
    "encryption-hex": PASSWORD,
    "ssh-private-key": KEY,
    "private": PRIVATE,
    "digest-key": KEY,
    "host-key-private": KEY,
    "server-secret": PASSWORD,
    "passwd_hash": HASH,
    "enable-password": PASSWORD,
    "enable-passwd": PASSWORD,
    "simple-text": PASSWORD,
    "text-authentication": PASSWORD,
    "shared-secret-name": PASSWORD,
}
_LONGEST = 80


def kind_of(word: str) -> Kind | None:
    """Return the kind of secret that the word announces; None for any other word."""
    return None if len(word) > _LONGEST else _kind_of(word)


@lru_cache(maxsize=16_384)
def _kind_of(word: str) -> Kind | None:
    plain = word.lower().strip("-_")
    if plain in _EXCEPTIONS:
        return _EXCEPTIONS[plain]
    if plain in _HARMLESS:
        return None
    if _ALGORITHM_WORD.fullmatch(plain):
        return ALGORITHM
    parts = [part.lower() for part in _PART.findall(word)]
    if len(parts) > 1 and parts[-1] in ("pw", "pwd") and parts[0] not in ("backup", "static", "dynamic"):
        return PASSWORD
    kinds = [_of_part(part if len(parts) == 1 else part.rstrip("0123456789") or part) for part in parts]
    at = next((at for at in reversed(range(len(parts))) if kinds[at] is not None), None)
    if at is None:
        return _of_glued(plain) if len(parts) > 1 else None
    kind = kinds[at]
    public = _PUBLIC | _PUBLIC_OF_KEYS if kind is KEY else _PUBLIC
    about = _ABOUT - {"name"} if kind is COMMUNITY else _ABOUT
    if _any_of(parts[at + 1 :], about) or (_any_of(parts[:at], public) and "private" not in parts):
        return None
    return _strongest(kind, [item for item in kinds if item is not None])


def is_about(word: str) -> bool:
    """Return whether the word is a rule for secrets rather than one: `strength-check`, `min-length`."""
    return "-" in word and len(word) <= _LONGEST and _any_of(re.split(r"[-_]", word), _RULES)


def is_keyword(word: str) -> bool:
    """Return whether an announcing word is one of a command line, and not a secret that contains
    such a word.
    """
    if kind_of(word) is None or not (word.islower() or word.isupper()):
        return False
    return all(part in _PARTS_OF_KEYWORDS for part in re.split(r"[-_]", word.lower().rstrip(":")))


def _strongest(last: Kind | None, kinds: list[Kind]) -> Kind | None:
    """Return the strongest kind: `password-hash` announces a password, and not just any hash."""
    return next((kind for kind in kinds if not kind.weak), last)


def _any_of(parts: Iterable[str], known: frozenset[str]) -> bool:
    return any(part in known for part in parts)


def _of_part(part: str) -> Kind | None:
    named = next((kind for kind, exact in _EXACT if part in exact), None)
    return named or _of_glued(part)


def _of_glued(part: str) -> Kind | None:
    if part in _HARMLESS or part in ("passive", "bypass", "compass"):
        return None
    return next((kind for kind, glued in _GLUED if glued.search(part)), None)
