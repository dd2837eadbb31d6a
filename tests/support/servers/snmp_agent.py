"""An SNMP agent for tests (version 2c): it serves recordings, and misbehaves where a test wants that.

A recording is a text with a line `OID|tag|value` for each object, as snmpsim's are; tags are those of ASN.1,
with an `x` behind them where the value is in hexadecimal. What was made unreadable there is a text.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address

INTEGER, OCTETS, NULL, OBJECT_ID, SEQUENCE = 0x02, 0x04, 0x05, 0x06, 0x30
NO_SUCH_OBJECT, NO_SUCH_INSTANCE, END_OF_VIEW = 0x80, 0x81, 0x82
GET, GET_NEXT, RESPONSE, GET_BULK = 0xA0, 0xA1, 0xA2, 0xA5
IP_ADDRESS = 64
NUMBERS = frozenset({INTEGER, 65, 66, 67, 70})  # Counter32, Gauge32, TimeTicks, Counter64
MOST_BYTES = 1400 * 8

Oid = tuple[int, ...]
Encoded = bytes
"""An object's value with its tag and length."""


def element(tag: int, content: bytes) -> bytes:
    if len(content) < 128:
        return bytes((tag, len(content))) + content
    octets = len(content).to_bytes((len(content).bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(octets))) + octets + content


def integer(value: int, tag: int = INTEGER) -> bytes:
    return element(tag, value.to_bytes(value.bit_length() // 8 + 1, signed=True))


def object_id(oid: Oid) -> bytes:
    return element(OBJECT_ID, _packed(oid))


def _packed(oid: Oid) -> bytes:
    first = bytes((oid[0] * 40 + oid[1],)) if len(oid) > 1 else b"\0"
    return first + b"".join(map(_base_128, oid[2:]))


def _base_128(number: int) -> bytes:
    octets = [number & 0x7F]
    while number := number >> 7:
        octets.append(0x80 | number & 0x7F)
    return bytes(reversed(octets))


def oid_of(text: str) -> Oid:
    return tuple(int(part) for part in text.strip(".").split("."))


@dataclass(frozen=True, kw_only=True)
class Recording:
    """Objects in the order of the file; those that come next are looked up in that order."""

    oids: Sequence[Oid]
    values: Mapping[Oid, Encoded]

    @classmethod
    def of(cls, objects: Iterable[tuple[Oid, Encoded]]) -> "Recording":
        values = dict(objects)
        return cls(oids=sorted(values), values=values)

    @classmethod
    def read(cls, text: str) -> "Recording":
        return cls.of(_object(line) for line in text.splitlines() if line.count("|") >= 2)

    def after(self, oid: Oid) -> Oid | None:
        place = bisect_right(self.oids, oid)
        return self.oids[place] if place < len(self.oids) else None


def _object(line: str) -> tuple[Oid, Encoded]:
    oid, tag, value = line.split("|", 2)
    tag = tag.partition(":")[0]
    is_hex = tag.endswith("x")
    number = int(tag.removesuffix("x"))
    try:
        return oid_of(oid), _encoded(number, value, is_hex)
    except ValueError:
        return oid_of(oid), element(OCTETS, value.encode("latin-1", errors="replace"))


def _encoded(tag: int, value: str, is_hex: bool) -> Encoded:
    if tag in NUMBERS:
        return integer(int(value or 0), tag)
    if tag == OBJECT_ID:
        return object_id(oid_of(value))
    if tag == IP_ADDRESS and not is_hex:
        return element(tag, IPv4Address(value).packed)
    return element(tag, bytes.fromhex(value) if is_hex else value.encode("latin-1", errors="replace"))


@dataclass(frozen=True, kw_only=True)
class Request:
    """`repetitions` of a GETBULK; no non-repeaters, since nobody here asks with them."""

    community: str
    kind: int
    number: bytes
    repetitions: int
    oids: Sequence[Oid]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """Pairs of an OID and a value, or an error."""

    objects: Sequence[tuple[Oid, Encoded]] = ()
    error: int = 0


Behaviour = Callable[[Request, Reply], Reply | None]
"""What becomes of a reply; None: nobody answers."""


@dataclass(kw_only=True)
class Agent(asyncio.DatagramProtocol):
    """Recordings by community; `behaviour` may change each reply. `asked` counts the requests."""

    recordings: Mapping[str, Recording]
    behaviour: Behaviour = lambda request, reply: reply
    transport: asyncio.DatagramTransport = field(init=False)
    port: int = 0
    asked: list[Request] = field(default_factory=list)

    def datagram_received(self, data: bytes, peer: tuple[str, int]) -> None:
        request = _request(data)
        recording = self.recordings.get(request.community)
        if recording is None:
            return  # as real agents do: a wrong community gets no answer
        self.asked.append(request)
        reply = self.behaviour(request, _reply(request, recording))
        if reply is not None:
            self.transport.sendto(_packet(request, reply), peer)


@asynccontextmanager
async def serving_agent(
    recordings: Mapping[str, Recording], behaviour: Behaviour = lambda request, reply: reply
) -> AsyncIterator[Agent]:
    """An agent on a random port of loopback."""
    agent = Agent(recordings=recordings, behaviour=behaviour)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: agent, local_addr=("127.0.0.1", 0))
    agent.transport, agent.port = transport, transport.get_extra_info("sockname")[1]
    try:
        yield agent
    finally:
        transport.close()


def _reply(request: Request, recording: Recording) -> Reply:
    if request.kind == GET:
        missing = bytes((NO_SUCH_INSTANCE, 0))
        return Reply(objects=[(oid, recording.values.get(oid, missing)) for oid in request.oids])
    objects: list[tuple[Oid, Encoded]] = []
    position, size = request.oids[0], 0
    for _ in range(request.repetitions if request.kind == GET_BULK else 1):
        found = recording.after(position)
        if found is None:
            objects.append((position, bytes((END_OF_VIEW, 0))))
            break
        objects.append((found, recording.values[found]))
        size += len(recording.values[found]) + 2 * len(found)
        position = found
        if size > MOST_BYTES:
            break
    return Reply(objects=objects)


def _packet(request: Request, reply: Reply) -> bytes:
    bindings = b"".join(element(SEQUENCE, object_id(oid) + value) for oid, value in reply.objects)
    content = (
        element(INTEGER, request.number) + integer(reply.error) + integer(0) + element(SEQUENCE, bindings)
    )
    head = integer(1) + element(OCTETS, request.community.encode())
    return element(SEQUENCE, head + element(RESPONSE, content))


def _request(packet: bytes) -> Request:
    content = content_of(packet)[0][1]
    (_, _), (_, community), (kind, pdu) = content_of(content)
    (_, number), (_, _), (_, repetitions), (_, bindings) = content_of(pdu)
    oids = [unpacked(content_of(binding)[0][1]) for _, binding in content_of(bindings)]
    return Request(
        community=community.decode(errors="replace"),
        kind=kind,
        number=number,
        repetitions=int.from_bytes(repetitions),
        oids=oids,
    )


def content_of(data: bytes) -> list[tuple[int, bytes]]:
    """The elements that follow each other."""
    found, position = [], 0
    while position < len(data):
        tag, length, position = data[position], data[position + 1], position + 2
        if length & 0x80:
            octets = length & 0x7F
            length, position = int.from_bytes(data[position : position + octets]), position + octets
        found.append((tag, data[position : position + length]))
        position += length
    return found


def unpacked(data: bytes) -> Oid:
    parts, number = [data[0] // 40, data[0] % 40], 0
    for octet in data[1:]:
        number = number << 7 | octet & 0x7F
        if not octet & 0x80:
            parts.append(number)
            number = 0
    return tuple(parts)
