"""A PostgreSQL server for the gateway's tests, which ends with this process; and the databases that a test runs on."""

import os
import subprocess
import tempfile

from processes import TOP, free_port

SCRIPT = TOP / "Tests/EnrollGatewayStoreTests/postgres"
_shared = {}
_counter = iter(range(1, 1 << 30))


def _server():
    """The port of the one server."""
    if "port" not in _shared:
        folder, port = tempfile.mkdtemp(prefix="gateway-postgres-"), free_port()
        os.chmod(folder, 0o755)
        subprocess.run([SCRIPT, "start", folder, str(port), str(os.getpid())], check=True)
        _shared["port"] = port
    return _shared["port"]


def postgresql():
    """The URL of a new, empty schema."""
    port, name = _server(), f"gateway{next(_counter)}"
    base = f"postgresql://gateway@127.0.0.1:{port}/postgres"
    subprocess.run(["psql", "-q", base, "-c", f"CREATE SCHEMA {name}"], check=True)
    return f"{base}?options=-csearch_path%3D{name}"


def settings(kind):
    """The settings of a gateway on this kind of database: `sqlite` or `postgresql`."""
    return {"database": postgresql()} if kind == "postgresql" else {}


KINDS = "sqlite", "postgresql"
