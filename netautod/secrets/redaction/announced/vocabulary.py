"""Words of configurations that are no secrets: before a value, behind it, names of algorithms.

Sources: the command references of the vendors of the platforms.
"""

import re


def words(text: str) -> frozenset[str]:
    """Return a set of words from a text."""
    return frozenset(text.split())


# Between the announcing word and its value, where something follows.
QUALIFIERS = words("""
    encrypted encryption encrypt hash hashed cipher ciphertext irreversible-cipher reversible simple
    simple-text plain plaintext plain-text clear clear-text cleartext clearpass text ascii ascii-text hex
    hexadecimal enc md5 sha sha1 string value is secret-value level local remote scrypt sha256 sha384 sha512
    pbkdf2 bcrypt type-6 type6 type7 8a aes aes128 aes192 aes256 des 3des rsa128 raw base64 bstring binary
    unencrypted localized localizedkey key-string key key-hash password secret passphrase psk set-key v1 v2c
    read write ro rw readonly readwrite read-only read-write-all read-write store-encrypted create add
    accessmode mode string: inbound outbound esp ah transport send recv receive both primary secondary new
    old current peap manager operator user-password admin-password manager-password symmetric asymmetric
    data was to reads = : -> => with as wpa wpa2 wpa3 sae auto verify server client salted hashed-password
    encrypted-password community accounting authentication port-access auth
    acct phrase dec-key hmac-md5 fallback accept
    nonstandard hmac-sha-1 hmac-sha-256 hmac-sha1 hmac-sha256 hash2 authorization name: index:
    securityname: -- base privileged pre-hashed
""")
# With one argument: `pre-shared-key address 192.0.2.1 key ...`.
PAIRS = words("""
    address hostname peer host fqdn server-ip ipaddr ipmask index vrf user username id number key-id name
    user-name ip level ckn type size length bits ipv4 ipv6 identity any-of spi group-name role
""")
# What may stand behind a value, so that it ends one that is written in several words.
FOLLOWING = words("""
    role roles privilege privilege-level priv-lvl level level-1 level-2 level-1-2 group groups address
    hostname host vrf encrypted encryption hash hash2 ro rw read-only read-write readonly readwrite view
    views ipv4 ipv6 acl access access-class access-list access-group authorization expire expires timeout
    auth-port acct-port port retransmit retry authenticate send-only validate type service service-type
    state class idle-timeout localizedkey localized priv auth unrestricted restricted operator manager md5
    sha sha1 sha256 sha512 des aes version v1 v2c v3 udp-port trap traps informs community name profile user
    username uid gid shell home full-name description comment domain email network-admin network-operator
    sysadmin nterm mschap interface vlan source source-interface management vpn-instance standby active vpn
    tunnel-group general-attributes to from for with in out on at end ssid wlan use-vrf index chain
    key-chain recv send mode primary secondary remote local peer server and or then attributes attribute
    level1 level2 accept-lifetime send-lifetime cipher mschapv2 pap chap ppp l2tp pppoe disabled enabled no
    yes true false enable disable admin super read write administrator guest-access max-sessions
    ignore-acct-port default realm member usage-type auth-type service= profile= disabled= name= group=
    access-level nopassword ssh-key sshkey public-key allow-commands method protocol mtu single-connection
    login ssh telnet console terminal http https web ftp snmp privilege-exec enforce min-length sequence seq
    area process overwrite force ldap radius tacacs+ tacacs tftp vty line store-encrypted user-group
    nt-encrypted store-local usm-user acl-name context mib-view notify inform v1v2c_ro v1v2c_rw
""")
# Behind the number of a key that is used: `ntp server 192.0.2.1 key 1 prefer`.
OPTIONS_OF_USE = words(
    "start-time options key-name prefer version source iburst burst minpoll maxpoll use-vrf "
    "maximum-poll minimum-poll"
)
# In sentences of banners and descriptions. Not `is`, behind which the secret stands.
ENGLISH = words("""
    to before when will must should may shall cannot can by and or are were has have if that this your their
    its of protected information then than after because please only without will, could would used using
    required needed does do did not card cards
""")
# Words that stand behind names of algorithms and hashes in policies.
COMMON = words("""
    group1 group2 group5 group14 group19 group20 group21 group24 esp-aes esp-sha-hmac esp-sha256-hmac
    esp-null esp-3des esp-md5-hmac ah-sha-hmac ah-md5-hmac tunnel transport mode integrity prf lifetime
    seconds kilobytes pre-share pre-shared rsa-sig ecdsa-sig psk pfs dh-group encryption authentication hash
    gcm cbc ctr null none any all default required optional only strict permit deny match set keyring
    proposal enc-algorithm auth-algorithm digest signature sign with rsa rsa-2048 rsa-4096 ec x509 passive
    active client server both auto negotiate enable message-digest hmac keyed-md5 keyed-sha1 key-chain
    keychain dynamic static interface hold-time inactive stateless tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3
    dtlsv1 dtlsv1.2 high medium low fips custom rc4 rc2 camellia idea seed cast noauth noauthnopriv
    authpriv authnopriv
    auth-priv auth-no-priv engineid engine-id remote-engine acl ipv4-acl ipv6-acl source-ip destination-ip
    src dst source destination address port ports header payload round-robin ip-hash first second third
    level context read notify exact prefix username user password secret key string type len length bits bit
    bytes size count time times number id in out on off yes no true false and or not from to of by for if is
    are be the a an as at this that which via per up down enabled disabled passphrase message messages
    packet packets traffic data file files flash: tunnel-group general tunnelled traffic-engineering session
    sessions keepalive chap pap eap peap mschap mschapv2 ms-chap-v2 tls ttls rsa1024 rsa2048 ecdh dhe ecdhe
    kdf prf-sha256 authentication-mode privacy-mode domain login ppp console network exec commands
""")
_ALGORITHMS = re.compile(
    r"(?i)(?:(?:hmac|aes|des|3des|sha|sha[123]|md5|rc4|rc2|arcfour|blowfish|twofish|serpent|cast|"
    r"cast5|chacha20|poly1305|"
    r"poly|cbc|gcm|ctr|ccm|cfb|ofb|ecb|xts|etm|umac|rsa|dsa|dss|ecdsa|ecdh|ecdhe|dh|dhe|dhe2|edh|"
    r"adh|anon|psk|kex|curve25519|libssh|org|"
    r"com|openssh|nist[pbk]?|nistp|p|suite|tls|ssl|with|null|exp|export|high|medium|low|default|"
    r"all|group|exchange|"
    r"diffie|hellman|gex|sk|ssh|ed25519|ed448|x509v?3?|sign|cert|v|v01|prf|tripledes|camellia|"
    r"aria|seed|idea|sm3|sm4|ede|ede3|"
    r"cmac|gmac|esp|ah|bits?|bit|b|encryption|authentication|strength|fips|lysator|liu|se|"
    r"rijndael|pkcs|pss|oaep|"
    r"x25519|secp|brainpool|poly1305-openssh|aesgcm|aesccm|enull|anull|kyber|sntrup761x25519|mlkem768x25519|"
    r"aesni|aes-?ni|xpn|v1|v2|v3|s|r|t)"
    r"\d*(?:[-+:,!@_/.]+|$)|\d+(?:[-+:,!@_/.]+|$))+"
)
_LONGEST_STRENGTH = 4  # digits: `2048`; more of them are a password
_NUMBER = re.compile(r"\d{1,3}(?:\.\d+)*(?:/\d+)?[%smhd]?")
_ADDRESS = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?|(?=[^:/]*(?::[^:/]+)*::|(?:[^:]*:){7})[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:/\d{1,3})?"
)


def is_known(word: str) -> bool:
    """Return whether devices use this word (in lower case): a keyword, a number, an address, an algorithm."""
    return (
        word in COMMON
        or word in QUALIFIERS
        or word in FOLLOWING
        or word in PAIRS
        or _NUMBER.fullmatch(word) is not None
        or is_address(word)
        or is_algorithm(word)
    )


def is_algorithm(word: str) -> bool:
    """Return whether the word is a name of an algorithm, or several of them."""
    if word.isdigit():
        return len(word) <= _LONGEST_STRENGTH
    return len(word) <= 256 and _ALGORITHMS.fullmatch(word) is not None


def is_address(word: str) -> bool:
    """Return whether the word is an address or network of IP."""
    return len(word) <= 43 and _ADDRESS.fullmatch(word) is not None
