"""The text that a terminal would show: received bytes become plain lines (ANSI, erased text, NUL, CRLF).

Nothing else is lost: bytes that are not UTF-8 are carried on (encoding.py), and so are tabs, blanks at the
end of a line and the control characters that no terminal acts on, such as the ETX around a banner of IOS.
"""

import re
import unicodedata

from netautod.transport.ssh.encoding import to_text

# ECMA-48: CSI sequences, OSC strings (ended by BEL or ST) and the other two-byte escapes.
_CSI = r"\x1b\[(?P<args>[0-?]*)[ -/]*(?P<final>[@-~])"
_ESCAPE = re.compile(_CSI + r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")
# A new line without a line feed: ECMA-48 NEL, and the line that a ProCurve inserts at the bottom to scroll.
_NEXT_LINE = re.compile(r"\x1bE|\x1b\[\d*L")
# The screen is cleared: ED of all of it (ECMA-48), RIS, or ED of what is below the upper left corner.
_CLEARED = re.compile(r"[^\n]*(?:\x1b\[[23]J|\x1bc|\x1b\[[01]?(?:;[01]?)?[Hf]\x1b\[0?J)")
_ADDRESS = re.compile(r"\x1b\[(\d*)(?:;\d*)?[Hf]")
_UNFINISHED = r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[ -/]+)?\Z"
_UNFINISHED_ESCAPE = re.compile(_UNFINISHED)
_UNFINISHED_BYTES = re.compile(_UNFINISHED.encode())
_LONGEST_ESCAPE = 256
# A carriage return that begins no line end, or a character on which a terminal acts: padding (NUL, DEL),
# bell, backspace, line and page moves, character sets, XON, XOFF, escape.
_CONTROL = re.compile(r"[\x00\x07\x08\x0b\x0c\x0e\x0f\x11\x13\x1b\x7f]|\r(?!\n)")
# All bytes but those of the controls above: what is left without them is empty for most outputs.
_NO_CONTROL = bytes(byte for byte in range(256) if byte == 13 or not _CONTROL.match(chr(byte)))
_UNPRINTABLE = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
# Of these, what is no part of a line. A page break in front of one clears the screen, within it is text.
_NO_TEXT = re.compile(r"[\x00\x07\x0e\x0f\x11\x13\x7f]|^[\x0b\x0c]+")
_PIECES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\b\r]|[^\b\r\x1b]+")
_LINE_END = re.compile(r"\r+\n")
_MAX_COLUMN = 4096  # a cursor address beyond this is an attack on our memory, not a screen


def clean(data: bytes) -> str:
    r"""Return text with `\n` line ends as a reader would see it; it carries the bytes that are not UTF-8."""
    if not data.translate(None, _NO_CONTROL) and data.count(b"\r") == data.count(b"\r\n"):
        return to_text(data.replace(b"\r\n", b"\n"))  # the usual case, and the fast one
    text = to_text(data)
    if "\x1b" in text:
        text = _rows(text)
    if _CONTROL.search(text) is None:
        return text.replace("\r\n", "\n")
    return "\n".join(_shown(line, _NO_TEXT) for line in text.split("\n"))


def plain_lines(data: bytes) -> str:
    r"""Return what a program wrote without a terminal: every character as it is, but for `\n` as the
    line end.
    """
    return _LINE_END.sub("\n", to_text(data)) if b"\r" in data else to_text(data)


def visible(line: str) -> str:
    """Return one line (without its line feed) after backspaces, carriage returns and erasures did their work.

    Of several lines that escape sequences divide, the last one. No control character is left.
    """
    return _UNPRINTABLE.sub("", _shown(_without_earlier_lines(line), _UNPRINTABLE))


def unfinished_escape(data: bytearray) -> bytes:
    """Return the escape sequence at the end whose rest is still to come; the rest alone would be text."""
    found = _UNFINISHED_BYTES.search(data[-_LONGEST_ESCAPE:])
    return bytes(found[0]) if found is not None else b""


def _shown(line: str, left_out: re.Pattern[str]) -> str:
    line = line.rstrip("\r")
    if _CONTROL.search(line) is None:
        return line
    line = _ESCAPE.sub(_keep_cursor_moves, _UNFINISHED_ESCAPE.sub("", line.replace("\x00", "")))
    line = left_out.sub("", line)
    cells: list[str] = []
    column, moved, written = 0, False, False
    for piece in _PIECES.findall(line):
        written = piece[0] not in "\b\r\x1b" or piece[-1] == "K"
        if piece[0] in "\b\r\x1b":
            cells, column = _move(piece, cells, column)
            moved = True
        else:
            cells[column : column + len(piece)] = piece
            column += len(piece)
    shown = "".join(cells)
    if not moved:
        return shown
    # What an erased pager leaves behind is blanks; those in front of the cursor belong to the text.
    text = shown.rstrip()
    return shown[: max(len(text), column)] if text and written else text


def without_escapes(text: str) -> str:
    """Return the last line as it came, backspaces included, without colours and other escape sequences.

    Control characters that show nothing are left out as well: FRR sends a NUL behind the text of its pager.
    """
    plain = _ESCAPE.sub("", _without_earlier_lines(text)) if "\x1b" in text else text
    return _UNPRINTABLE.sub("", plain)


def _without_earlier_lines(line: str) -> str:
    return _rows(line).rpartition("\n")[2] if "\x1b" in line else line


def _rows(text: str) -> str:
    """Put a line feed where escape sequences begin a line; drop what a cleared screen showed of one."""
    lines = _CLEARED.sub("", _NEXT_LINE.sub("\n", text)).split("\n")
    return "\n".join(_by_address(line) if "\x1b" in line else line for line in lines)


def _by_address(line: str) -> str:
    """Make text that is written to another row than the text before it a line of its own."""
    found = [*_ADDRESS.finditer(line)]
    pieces = [line[: found[0].start()] if found else line]
    row = None
    for at, address in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(line)
        if _ESCAPE.sub("", line[address.end() : end]).strip():
            goes_to = int(address[1][:6] or 1) or 1
            pieces += ["\n"] if row not in (None, goes_to) else []
            row = goes_to
        pieces.append(line[address.start() : end])
    return "".join(pieces)


def _keep_cursor_moves(match: re.Match[str]) -> str:
    """Keep the moves that change the visible text of a line: cursor forward, back, to column; erase in line
    or below.

    A cursor that is sent to a row and a column (`H`, `f`) is taken for one that stays in its row: command
    lines are redrawn so.
    """
    final = match["final"] or "-"
    if final in "Hf":
        return f"\x1b[{match['args'].partition(';')[2] or 1}G"
    if final == "J" and match["args"] in ("", "0"):
        return "\x1b[K"
    return match[0] if final in "CDGK" else ""


def _move(piece: str, cells: list[str], column: int) -> tuple[list[str], int]:
    if piece == "\b":
        return cells, max(0, column - 1)
    if piece == "\r":
        return cells, 0
    digits = re.sub(r"[^0-9]", "", piece)[:6]
    count = min(int(digits or 0), _MAX_COLUMN)
    final = piece[-1]
    if final == "K":
        return _erase(cells, column, count), column
    if final == "D":
        return cells, max(0, column - max(1, count))
    target = column + max(1, count) if final == "C" else max(1, count) - 1
    cells += [" "] * (target - len(cells))
    return cells, target


def _erase(cells: list[str], column: int, what: int) -> list[str]:
    """Erase in line: 0 to the end, 1 from the beginning, 2 all; cells before the cursor go on to exist."""
    if what == 0:
        return cells[:column]
    if what == 1:
        return [" "] * min(column, len(cells)) + cells[column:]
    return [" "] * column


def is_one_line(command: str) -> bool:
    """Return whether the command has no line break (those of Unicode too) and no control character."""
    return not any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in command)
