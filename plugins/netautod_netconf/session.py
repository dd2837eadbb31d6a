"""A session of NETCONF (RFC 6241) over the channel that the service has opened."""

from xml.etree.ElementTree import Element

from netautod.plugin_api import Channel, DeviceFailed
from netautod_netconf.elements import BadXml, each, parsed, text
from netautod_netconf.framing import BadFraming, Decoder, encoded

BASE = "urn:ietf:params:netconf:base:"
NAMESPACE = "urn:ietf:params:xml:ns:netconf:base:1.0"
HELLO = (
    f'<hello xmlns="{NAMESPACE}"><capabilities><capability>{BASE}1.0</capability>'
    f"<capability>{BASE}1.1</capability></capabilities></hello>"
)


class RpcFailed(Exception):
    """The device refuses an operation; `text` is what it says."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Session:
    """A NETCONF session. After `begin`, `capabilities` are those of the device."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._decoder = Decoder()
        self._sent = 0
        self.capabilities: frozenset[str] = frozenset()

    async def begin(self) -> None:
        """Exchange the hellos; raises DeviceFailed."""
        await self._channel.send(encoded(HELLO.encode(), chunked=False))
        hello = await self._answer()
        if hello.tag != "hello":
            raise DeviceFailed(f"the device begins with <{hello.tag}>, not with <hello>", kind="lost")
        self.capabilities = frozenset(found for one in each(hello, "capability") if (found := text(one)))
        if f"{BASE}1.0" not in self.capabilities and f"{BASE}1.1" not in self.capabilities:
            raise DeviceFailed("the device speaks no version of NETCONF that is known", kind="lost")
        self._decoder.chunked = f"{BASE}1.1" in self.capabilities

    async def rpc(self, operation: str) -> Element:
        """Return the reply to one operation, as XML. Raises RpcFailed, and DeviceFailed when the session is
        over.
        """
        self._sent += 1
        request = f'<rpc message-id="{self._sent}" xmlns="{NAMESPACE}">{operation}</rpc>'
        await self._channel.send(encoded(request.encode(), chunked=self._decoder.chunked))
        reply = await self._answer()
        if reply.tag != "rpc-reply" or reply.get("message-id") != str(self._sent):
            raise DeviceFailed("the device answers another request than the last one", kind="lost")
        for error in each(reply, "rpc-error"):
            if text(error, "error-severity") != "warning":
                message = text(error, "error-message") or text(error, "error-tag") or "an error"
                raise RpcFailed(message[:200])
        return reply

    async def _answer(self) -> Element:
        try:
            return await parsed(await self._message())
        except (BadFraming, BadXml) as exc:
            raise DeviceFailed(exc.text, kind="lost") from exc

    async def _message(self) -> bytes:
        while True:
            for message in self._decoder.messages():
                return message
            data = await self._channel.receive()
            if not data:
                raise DeviceFailed("the device ended the session", kind="lost")
            self._decoder.feed(data)
