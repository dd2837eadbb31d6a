"""The part of a command that is shown to the readers of events and logs."""

import pytest

from netautod.secrets.redaction.commands import shown_command


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        pytest.param("enable secret hunter2", "enable secret <hidden>", id="a secret of IOS"),
        pytest.param("ena sec 0 hunter2", "ena sec <hidden>", id="the same in short"),
        pytest.param(
            "username bob privilege 15 password 7 0822455D0A16",
            "username bob privilege 15 password <hidden>",
            id="a user's password",
        ),
        pytest.param("snmp-server community s3cret RO", "snmp-server community <hidden>", id="a community"),
        pytest.param(
            "snmp-server host 192.0.2.1 version 2c s3cret",
            "snmp-server host 192.0.2.1 <hidden>",
            id="a community without its word",
        ),
        pytest.param(
            "snmp-server user u g v3 auth sha s3cret priv aes 128 s3cret",
            "snmp-server user u g v3 auth sha <hidden>",
            id="the keys of an SNMP user",
        ),
        pytest.param(
            'set system root-authentication encrypted-password "$6$salt$s3cret"',
            'set system root-authentication encrypted-password "<hidden>',
            id="a hash of Junos",
        ),
        pytest.param("user add name=x password=s3cret", "user add name=x password=<hidden>", id="MikroTik"),
        pytest.param(
            "ntp authentication-key 1 md5 s3cret", "ntp authentication-key <hidden>", id="an NTP key"
        ),
        pytest.param(
            "copy scp://bob:s3cret@192.0.2.1/x flash:",
            "copy scp://bob:<hidden>@192.0.2.1/x flash:",
            id="a password in an address",
        ),
        pytest.param("echo root:s3cret | chpasswd", "<hidden> | chpasswd", id="a password on a pipe"),
        pytest.param("export API_TOKEN=s3cret", "export API_TOKEN=<hidden>", id="a token in a variable"),
        pytest.param("wr; echo '$5$salt$s3cret'", "wr; echo '<hidden>'", id="a hash anywhere"),
    ],
)
def test_a_secret_is_hidden(command: str, shown: str) -> None:
    assert shown_command(command) == shown


@pytest.mark.parametrize(
    "command",
    [
        "show running-config | include secret 5",
        "show key chain",
        "configure terminal",
        "crypto key generate rsa modulus 2048",
        "commit comment monkey business",
        "no ip domain-lookup",
        "passive-interface default",
        "set password",
        "ping 192.0.2.1",
        "?",
    ],
)
def test_what_holds_no_secret_is_shown_whole(command: str) -> None:
    assert shown_command(command) == command
