"""The forms in which devices echo what is typed: wrapped or scrolled at the edge, painted again."""

from typing import Literal

EchoForm = Literal["typed", "none", "silent", "late", "again", "wrapped", "blank", "scrolled"]
"""`none`: none at all. `silent`: the line end alone. `late`: when the device reads the line, not while it is
busy. `again`: the line is painted once more when it ends (RouterOS). At the last column, `wrapped` goes on
in the next line, `blank` makes the terminal do so by a blank and a carriage return (readline), and
`scrolled` moves the line to the left behind a `$` (IOS)."""

EDITED: tuple[EchoForm, ...] = ("again", "wrapped", "blank", "scrolled")
_KEPT = 9  # characters of a scrolled line that stay readable left of the cursor


class Echo:
    """The echo of one line that is typed behind a prompt."""

    def __init__(self, form: EchoForm, *, prompt: str, columns: int) -> None:
        self.form = form
        self._prompt = prompt
        self._columns = columns
        self._room = max(columns - len(prompt), 2 * _KEPT)
        self._typed = ""
        self._shown = 0  # characters between the prompt, or the edge, and the cursor

    def of(self, character: str) -> str:
        """Return what the character that was just typed adds to the screen."""
        self._typed += character
        self._shown += 1
        if self.form in ("none", "silent", "late"):
            return ""
        if self.form in ("typed", "again") or self._shown <= self._room:
            return character
        if self.form == "scrolled":
            return self._scrolled()
        self._shown = 1
        self._room = self._columns
        return ("\r\n" if self.form == "wrapped" else " \r") + character

    def at_end(self) -> str:
        """Return what the end of the line adds."""
        if self.form in ("none", "late"):
            return ""
        return f"\r{self._prompt}{self._typed}\r\n" if self.form == "again" else "\r\n"

    def _scrolled(self) -> str:
        before, tail = self._shown - 1, self._typed[-_KEPT:]
        left = max(before - len(tail) - 1, 0)
        self._shown = len(tail) + 1
        return "\b" * before + "$" + tail + " " * left + "\b" * left
