"""Where the server listens: an address of this machine, another one if there are keys, or a Unix socket of its user."""

import ipaddress
import os
import socket
import stat
from pathlib import Path

from actormem import UsageError

__all__ = ["address_of", "is_local", "tcp_socket", "unix_socket"]

OWNER_ONLY = 0o177  # taken from the rights of a new socket: its user alone may reach it


def tcp_socket(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 lets the system choose.

    Raises:
        UsageError: Nothing can be bound there; says why.
    """
    if not 0 <= port < 2**16:
        raise UsageError(f"cannot listen on port {port}: ports lie in 0 to {2**16 - 1}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host} port {port}: {_reason(error)}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        bound.close()
        raise UsageError(f"cannot listen on {host} port {port}: {_reason(error)}") from None
    return bound


def is_local(bound: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    if bound.family == socket.AF_UNIX:
        return True
    return ipaddress.ip_address(str(bound.getsockname()[0]).partition("%")[0]).is_loopback


def unix_socket(path: Path) -> socket.socket:
    """A bound socket at this path, for its user alone. What a server that has died left there is taken away.

    Raises:
        UsageError: Something else is there, or a server that lives.
    """
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _clear(path)
        before = os.umask(OWNER_ONLY)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
    except OSError as error:  # a path that is too long, too
        bound.close()
        raise UsageError(f"cannot listen on {path}: {_reason(error)}") from None
    except BaseException:
        bound.close()
        raise
    return bound


def address_of(bound: socket.socket) -> str:
    """What a client gives to `actormem.connect`."""
    name = bound.getsockname()
    if bound.family == socket.AF_UNIX:
        return f"unix:{name}"
    host = f"[{name[0]}]" if bound.family == socket.AF_INET6 else name[0]
    return f"http://{host}:{name[1]}"


def _clear(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UsageError(f"{path} is there already and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
    raise UsageError(f"a server listens on {path} already")


def _reason(error: Exception) -> str:
    strerror = getattr(error, "strerror", None)
    return str(strerror).lower() if strerror else str(error)
