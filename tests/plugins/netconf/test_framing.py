"""The framing of RFC 6242, in pieces of any size, and what is none."""

import pytest

from netautod_netconf import framing
from netautod_netconf.framing import BadFraming, Decoder, encoded


def decoded(data: bytes, *, chunked: bool, pieces: int = 10_000) -> list[bytes]:
    decoder = Decoder()
    decoder.chunked = chunked
    found: list[bytes] = []
    for start in range(0, len(data), pieces):
        decoder.feed(data[start : start + pieces])
        found += decoder.messages()
    return found


@pytest.mark.parametrize("pieces", [1, 2, 3, 5, 7, 1000])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([b"<a/>"], id="one"),
        pytest.param([b"<a/>", b"<b/>", b"<c>x</c>"], id="several"),
        pytest.param([b"\n##\n<a/>"], id="what looks like an end of chunks"),
        pytest.param(["<a>\u00e9\u4e2d</a>".encode()], id="no ASCII"),
        pytest.param([b"x" * 3000], id="a long one"),
    ],
)
def test_what_is_encoded_comes_back(messages: list[bytes], chunked: bool, pieces: int) -> None:
    data = b"".join(encoded(message, chunked=chunked) for message in messages)
    assert decoded(data, chunked=chunked, pieces=pieces) == messages


def test_a_message_of_several_chunks() -> None:
    # The example of RFC 6242 4.2.
    data = b'\n#4\n<rpc\n#18\n message-id="102"\n\n#79\n' + b"y" * 79 + b"\n##\n"
    assert decoded(data, chunked=True, pieces=4) == [b'<rpc message-id="102"\n' + b"y" * 79]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"<a/>", "does not begin", id="no chunk"),
        pytest.param(b"\n<a/>", "does not begin", id="half a beginning"),
        pytest.param(b"\n#0\n", "is none", id="a chunk of nothing"),
        pytest.param(b"\n#012\n", "is none", id="a leading zero"),
        pytest.param(b"\n#-1\n", "is none", id="a negative size"),
        pytest.param(b"\n#x\n", "is none", id="letters"),
        pytest.param(b"\n#\n", "is none", id="no size"),
        pytest.param(b"\n#99999999999999999999", "does not end", id="a size without end"),
        pytest.param(b"\n#4294967295\n", "is none", id="more than we read"),
        pytest.param(b"\n#1\na\n#1\nb]]>]]>", "does not begin", id="the mark of version 1.0"),
    ],
)
def test_what_is_no_framing(data: bytes, text: str) -> None:
    with pytest.raises(BadFraming, match=text):
        decoded(data, chunked=True, pieces=3)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_message_without_end(chunked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MOST_BYTES", 1000)
    piece = b"\n#10\n0123456789" if chunked else b"0123456789"
    with pytest.raises(BadFraming, match="longer than 1000 bytes"):
        decoded(piece * 200, chunked=chunked, pieces=50)


def test_a_message_that_is_cut_is_none() -> None:
    assert decoded(b"<a/>]]>]]", chunked=False) == []
    assert decoded(b"\n#4\n<a/>\n##", chunked=True) == []
