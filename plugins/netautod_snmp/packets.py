"""The error status of an SNMP answer, which gufo-snmp does not return.

gufo-snmp ends a walk at the end of the objects and at an error alike: the packet says which it was.
"""

SEQUENCE, OCTETS, RESPONSE = 0x30, 0x04, 0xA2  # RFC 3416 3, RFC 3417 8
VERSION_3 = 3


def error_status(packet: bytes) -> int | None:
    """Return 0 for no error, else the number of RFC 3416 3; None where the packet is encrypted or is no
    answer.
    """
    try:
        return _error_status(packet)
    except IndexError:
        return None


def _error_status(packet: bytes) -> int | None:
    _, position, _ = _element(packet, 0)
    version, position = _integer(packet, position)
    if version == VERSION_3:  # RFC 3412 6: header data, security parameters, scoped PDU
        for _ in range(2):
            _, _, position = _element(packet, position)
        tag, inside, _ = _element(packet, position)
        if tag != SEQUENCE:
            return None
        position = inside
        for _ in range(2):  # context engine id and name
            _, _, position = _element(packet, position)
    else:
        _, _, position = _element(packet, position)  # the community
    tag, position, _ = _element(packet, position)
    if tag != RESPONSE:
        return None
    _, position = _integer(packet, position)
    status, _ = _integer(packet, position)
    return status


def _element(packet: bytes, start: int) -> tuple[int, int, int]:
    """Return the tag, where the content begins, and where what follows begins."""
    length, position = packet[start + 1], start + 2
    if length & 0x80:
        octets = length & 0x7F
        if position + octets > len(packet):
            raise IndexError
        length = int.from_bytes(packet[position : position + octets])
        position += octets
    return packet[start], position, position + length


def _integer(packet: bytes, start: int) -> tuple[int, int]:
    _, begins, ends = _element(packet, start)
    if not begins < ends <= len(packet):
        raise IndexError
    return int.from_bytes(packet[begins:ends], signed=True), ends
