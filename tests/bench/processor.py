"""The processor time of another process."""

import os
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """proc(5), stat: behind the name in brackets, utime and stime are the 12th and 13th field."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
