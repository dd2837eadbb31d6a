"""A device that speaks NETCONF, on the other end of a channel."""

import re
from collections.abc import Callable, Mapping

from netautod.plugin_api import DeviceFailed
from netautod_netconf.framing import Decoder, encoded

BASE = "urn:ietf:params:netconf:base:"
HELLO = '<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities>{}</capabilities></hello>'
JUNOS = "http://xml.juniper.net/netconf/junos/1.0"
XR = "http://cisco.com/ns/yang/Cisco-IOS-XR-ifmgr-cfg?module=Cisco-IOS-XR-ifmgr-cfg"
REFUSED = (
    "<rpc-error><error-severity>error</error-severity><error-message>syntax error</error-message></rpc-error>"
)


class Device:
    """A `Channel`. `answers` by a part of the request; another request is refused.

    `pieces`: how many bytes come at a time; `spoil` may change the bytes of a reply.
    """

    def __init__(
        self,
        answers: Mapping[str, str],
        *capabilities: str,
        versions: tuple[str, ...] = ("1.0", "1.1"),
        pieces: int = 1000,
        spoil: Callable[[bytes], bytes] = lambda reply: reply,
    ) -> None:
        self._answers = answers
        self._versions = versions
        self._pieces = pieces
        self._spoil = spoil
        self._decoder = Decoder()
        self.requests: list[str] = []
        offered = "".join(
            f"<capability>{one}</capability>"
            for one in (*(f"{BASE}{version}" for version in versions), *capabilities)
        )
        self._waiting = encoded(HELLO.format(offered).encode(), chunked=False)

    async def send(self, data: bytes) -> None:
        self._decoder.feed(data)
        for message in self._decoder.messages():
            if b"<hello" in message:
                self._decoder.chunked = "1.1" in self._versions
            else:
                self._answer(message.decode())

    def _answer(self, request: str) -> None:
        self.requests.append(request)
        number = re.search(r'message-id="(\w+)"', request)
        assert number is not None
        answer = next((one for part, one in self._answers.items() if part in request), REFUSED)
        reply = f'<rpc-reply xmlns="{BASE[:-6]}" message-id="{number[1]}">{answer}</rpc-reply>'
        self._waiting += self._spoil(encoded(reply.encode(), chunked="1.1" in self._versions))

    async def receive(self) -> bytes:
        data, self._waiting = self._waiting[: self._pieces], self._waiting[self._pieces :]
        return data


class Dropping(Device):
    """The connection is lost after so many requests."""

    def __init__(self, after: int, answers: Mapping[str, str], *capabilities: str) -> None:
        super().__init__(answers, *capabilities)
        self._after = after

    async def send(self, data: bytes) -> None:
        if len(self.requests) >= self._after:
            raise DeviceFailed("the connection dropped", kind="lost")
        await super().send(data)
