"""Where a database is: `postgresql://user@host/name?schema=memory`, read and shown without its password.

The law of the file: a password is in the string that libpq is given and in nothing else, no error and no log. So what
is shown is made of what libpq has read, never of the URL: `ada:pa#ss@host` is a password to libpq, a host to others.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

import msgspec
from psycopg import ProgrammingError, pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from actormem.errors import UsageError

__all__ = ["LEASE_S", "Database", "parse_url"]

SCHEMA: Final = "actormem"
LEASE_S: Final = (
    6.0  # a process that died is waited for this long; a third of it is one round trip at leisure
)
LEASE_S_MIN, LEASE_S_MAX = 0.2, 600.0
PORTS: Final = re.compile(r"[0-9,]*")  # of each host
NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")  # what PostgreSQL takes unquoted, and never folds
LIBPQ_NAMES: Final = frozenset(one.keyword.decode() for one in pq.Conninfo.get_defaults()) | {"ssl"}
DEFAULTS: Final = {
    "connect_timeout": "10",  # seconds; libpq alone would wait as long as the kernel does, minutes
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",  # ms: a peer that went away without a word is noticed while something is sent
    "application_name": "actormem",
    "client_encoding": "utf8",  # of a database without an encoding text would come as bytes
}


class Database(msgspec.Struct, frozen=True, kw_only=True):
    """A schema of a database.

    Attributes:
        conninfo: What libpq connects with; may hold a password.
        schema: Holds one memory.
        lease_s: Seconds after which a process that says nothing more has lost the schema.
        place: All of it, without the password.
    """

    conninfo: str
    schema: str
    lease_s: float
    place: str

    def __repr__(self) -> str:
        return f"<Database {self.place}>"


def parse_url(url: str) -> Database:
    """The database that a URL names.

    Args:
        url: As libpq takes it (`postgresql://user:password@host:port/name?sslmode=verify-full`; what is left out comes
            from `PGHOST` and so on), and in its query our own `schema` (default `actormem`) and `lease_s` (default 6).

    Raises:
        UsageError: It cannot be read. Nothing of it is repeated.
    """
    head, _, query = url.partition("?")  # as libpq reads it: to it # and a second ? are like any other letter
    own, rest = dict[str, str](), list[str]()
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        if name in own:
            raise UsageError(f"the URL of the database has {name} twice")
        if name in ("schema", "lease_s"):
            own[name] = unquote(value)
        elif name not in LIBPQ_NAMES and "@" not in query:  # a ? may be a letter of the password
            told = f" {name!r}" if re.fullmatch("[a-z_]+", name) else ""
            raise UsageError(
                f"the URL of the database has an option{told} that neither we nor libpq know",
                hint="ours are schema and lease_s",
            )
        else:
            rest.append(part)
    schema = own.get("schema", SCHEMA)
    if not NAME.fullmatch(schema) or schema.startswith("pg_") or schema in ("public", "information_schema"):
        raise UsageError(
            "the schema in the URL must be a name of its own of 1 to 63 of a-z, 0-9 and _, no digit first",
            hint="such as ?schema=memory",
        )
    try:
        given = conninfo_to_dict(f"{head}?{'&'.join(rest)}" if rest else head)
        conninfo = make_conninfo(
            "", **{**DEFAULTS, **{name: value for name, value in given.items() if value}}
        )
    except (ProgrammingError, ValueError):  # its words hold parts of the URL
        raise _unreadable() from None
    if not PORTS.fullmatch(str(given.get("port") or "")) or _is_cut_short(head):
        raise _unreadable()
    return Database(
        conninfo=conninfo,
        schema=schema,
        lease_s=_lease_s(own.get("lease_s")),
        place=_shown(given, schema),
    )


def _lease_s(given: str | None) -> float:
    try:
        lease_s = LEASE_S if given is None else float(given)
    except ValueError:
        lease_s = 0.0
    if not LEASE_S_MIN <= lease_s <= LEASE_S_MAX:
        raise UsageError(
            f"lease_s in the URL must be a number of seconds from {LEASE_S_MIN} to {LEASE_S_MAX}"
        )
    return lease_s


def _is_cut_short(head: str) -> bool:
    """Whether libpq took a / or @ of a password for the password's end, and what follows for host or database."""
    where = head.partition("://")[2]
    user, at, rest = where.partition("@")
    return "@" in (rest if at and "/" not in user else where)


def _shown(given: Mapping[str, Any], schema: str) -> str:
    """User, host and name of the database; whatever else the URL says may be a secret."""
    user, host, port, name = (given.get(name) or "" for name in ("user", "host", "port", "dbname"))
    is_socket = host.startswith(("/", "@"))
    where = "" if is_socket else _addresses(host.split(","), port.split(","))
    query = f"host={host}&schema={schema}" if is_socket else f"schema={schema}"
    return f"postgresql://{quote(user)}{'@' if user else ''}{where}/{quote(name)}?{query}"


def _addresses(hosts: list[str], ports: list[str]) -> str:
    ports = ports * len(hosts) if len(ports) == 1 else ports
    bare = [f"[{host}]" if ":" in host else host for host in hosts]
    return ",".join(f"{host}:{port}" if port else host for host, port in zip(bare, ports, strict=False))


def _unreadable() -> UsageError:
    return UsageError(
        "the URL of the database cannot be read",
        hint="write postgresql://user@host:port/name?schema=memory, and %2F for / and %40 for @ in a password",
    )
