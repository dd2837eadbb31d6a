"""The boundary of a form, as clients and attackers name it."""

import pytest

from netautod.core.errors import InvalidInput
from netautod.http.bodies.uploads import media_type_of, uploaded_file


@pytest.mark.parametrize(
    "parameter",
    [
        *("boundary*=undefined''x", "boundary*=idna''%80", "boundary*=punycode''%ff", "boundary*=\x00''x"),
        *('boundary=""', "boundary", "", "boundary*x=3"),
    ],
)
async def test_a_broken_boundary_is_a_mistake_of_the_client(parameter: str) -> None:
    content_type = f"multipart/form-data; {parameter}"
    assert media_type_of(content_type) == ("multipart/form-data", "")
    with pytest.raises(InvalidInput, match=r"^Content-Type: the boundary"):
        await uploaded_file(b"--x\r\n", content_type, "file")


@pytest.mark.parametrize(
    ("content_type", "found"),
    [
        ("multipart/form-data; boundary=aaa", ("multipart/form-data", "aaa")),
        ('Multipart/Form-Data; boundary="a b"', ("multipart/form-data", "a b")),
        ("multipart/form-data; boundary*0=a; boundary*1=b", ("multipart/form-data", "ab")),
        ("text/csv; boundary=aaa", ("text/csv", "")),
        ("", ("text/plain", "")),
    ],
)
def test_the_type_and_the_boundary_are_found(content_type: str, found: tuple[str, str]) -> None:
    assert media_type_of(content_type) == found
