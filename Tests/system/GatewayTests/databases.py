"""A PostgreSQL server for the gateway's tests, which ends with this process, and the kinds of database to test with."""

import subprocess

from crowd import PostgreSQL

_shared = {}
_counter = iter(range(1, 1 << 30))


def postgresql():
    """The URL of a new, empty schema."""
    if "server" not in _shared:
        _shared["server"] = PostgreSQL()
    base, name = _shared["server"].url, f"gateway{next(_counter)}"
    subprocess.run(["psql", "-q", base, "-c", f"CREATE SCHEMA {name}"], check=True)
    return f"{base}?options=-csearch_path%3D{name}"


def settings(kind):
    """The settings of a gateway on this kind of database: `sqlite` or `postgresql`."""
    return {"database": postgresql()} if kind == "postgresql" else {}


KINDS = "sqlite", "postgresql"
