"""Texts of devices, models and directories that try to show something else than they are.

Each has what a person is to see of it. The names say where such a text comes from.
"""

TEXTS = {
    "a hostname that reads backwards": ("core\u202e1-ws", r"core\u202e1-ws"),
    "a hostname with a letter that shows nothing": ("core\u200b-1", r"core\u200b-1"),
    "a hostname with a joiner": ("co\u200dre", r"co\u200dre"),
    "a hostname with a soft hyphen": ("co\u00adre", r"co\xadre"),
    "a hostname with a filler of Hangul": ("core\u3164", r"core\u3164"),
    "a description in isolates": ("\u2066core\u2069\u2067edge\u2069", r"\u2066core\u2069\u2067edge\u2069"),
    "a description with tags": ("uplink\U000e0064\U000e0065", r"uplink\U000e0064\U000e0065"),
    "a description with a byte order mark": ("\ufeffuplink", r"\ufeffuplink"),
    "a description with a variation selector": ("up\ufe0flink\U000e0100", r"up\ufe0flink\U000e0100"),
    "a banner with colours": ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
    "a banner with colours of C1": ("\x9b31mred\x9b0m", r"\x9b31mred\x9b0m"),
    "a banner that sets the title": ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
    "a banner that sets the title by C1": ("\x9d0;owned\x9c", r"\x9d0;owned\x9c"),
    "a banner with backspaces": ("allow\b\b\b\b\bdeny ", r"allow\x08\x08\x08\x08\x08deny "),
    "a config line that is written over": ("permit any\rdeny   any", r"permit any\rdeny   any"),
    "a config line with a line separator": ("permit any\u2028deny any", r"permit any\u2028deny any"),
    "a config line with a next line": ("permit any\u0085deny any", r"permit any\x85deny any"),
    "a config line with an override": ("acl \u202eyned\u202c any", r"acl \u202eyned\u202c any"),
    "a commit comment that ends a log line": ("ok\x0b\x0croot: all is well", r"ok\x0b\x0croot: all is well"),
    "a commit comment with a mark": ("ok\u200e\u200f\u061c", r"ok\u200e\u200f\u061c"),
    "a model's answer with hidden words": ("safe\u2063\u2064\u206a", r"safe\u2063\u2064\u206a"),
    "a model's answer with a NUL": ("safe\x00rm", r"safe\x00rm"),
    "a display name of LDAP": ("Ann\u202enimdA", r"Ann\u202enimdA"),
    "a display name with a word joiner": ("Ad\u2060min", r"Ad\u2060min"),
    "a display name with a thin blank": ("Ann\u200aAdmin", r"Ann\u200aAdmin"),
    "a private character": ("apple \uf8ff", r"apple \uf8ff"),
    "a lone surrogate": ("half \ud83d", r"half \ud83d"),
}
