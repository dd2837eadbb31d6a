"""The commands of each platform."""

from netautod_cli.reads import READS


def test_every_platform_reads_most_tables() -> None:
    assert {platform: len(reads) for platform, reads in READS.items() if len(reads) < 4} == {}


def test_every_command_belongs_to_one_table() -> None:
    """Require different commands: the process that parses finds a read by its command."""
    for reads in READS.values():
        commands = [read.command for read in reads.values()]
        assert len(commands) == len(set(commands))
