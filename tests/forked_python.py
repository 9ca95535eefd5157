"""What is in for ``sys.executable``: a fork does what it is asked, and it ends as that does.

It imports next to nothing, so that it starts in a tenth of the time that our modules take. It
passes on its arguments, directory, environment and standard descriptors; then signals that it gets.
"""

# typeshed has no stub of it; signal itself takes milliseconds
import _signal  # type: ignore[import-not-found]
import marshal
import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOL_SOCKET, socket

_PASSED_ON = (_signal.SIGABRT, _signal.SIGCONT, _signal.SIGINT, _signal.SIGTERM)


def main(path: str) -> None:
    """Ask the process that listens at this path for a fork, and wait for its end."""
    request = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
    connection = socket(AF_UNIX)
    connection.connect(path)
    descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    length = len(request).to_bytes(8, "big")
    connection.sendmsg([length], [(SOL_SOCKET, SCM_RIGHTS, descriptors)])
    connection.sendall(request)
    for number in range(3):
        os.close(number)  # whoever reads from the fork waits for the end of all that write
    for number in _PASSED_ON:
        _signal.signal(number, lambda number, _: connection.send(bytes([number])))
    status = int.from_bytes(connection.recv(4), "big", signed=True)
    if status < 0:
        _signal.signal(-status, _signal.SIG_DFL) if -status in _PASSED_ON else None
        os.kill(os.getpid(), -status)
    os._exit(status)
