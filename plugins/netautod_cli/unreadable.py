"""The one error of this plugin: an output that is not what the command prints."""


class Unreadable(Exception):
    """`text` says why, without a line of the output: that is not ours to show. Picklable."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
