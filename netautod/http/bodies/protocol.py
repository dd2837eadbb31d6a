"""What the service and its body readers agree on: a body goes out as it came, its value comes back pickled.

Both ends are this very program and the pipes are private. The value is made of what JSON knows, by our own
code, so that pickle is safe here; and it holds no more than `MOST_VALUES` values.
"""

import struct

READY = b"ready\n"
VALUE, REFUSED = 0, 1
REQUEST = struct.Struct(">Q")  # the length of the body
ANSWER = struct.Struct(">BQ")  # VALUE or REFUSED, and the length of what follows
