"""The one error of this plugin: an output that is not what the command prints."""


class Unreadable(Exception):
    """Raised for an output that cannot be parsed. `text` says why, without a line of the output, which must
    not be shown. Picklable.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
