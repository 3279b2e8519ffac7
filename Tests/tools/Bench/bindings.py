#!/usr/bin/env python3
"""Compares the call for a valid cached token in the bindings with other libraries of the same language: Python
(token_access.py) and Kotlin (TokenAccess.kt)."""

import os
import subprocess
import sys

from measure import BUILT, HERE, OUT, TOP, absent, clean_environment, compare

from processes import workspace
from sandbox import Sandbox

LAB = TOP / ".build/bench"
#: The jars of Debian's libgoogle-oauth-client-java, and the jars that this library needs.
JARS = [f"/usr/share/java/{name}.jar" for name in
        ("google-oauth-client", "google-http-client", "guava", "failureaccess", "opencensus-api", "opencensus-contrib-http-util",
         "grpc-context", "httpclient", "httpcore", "commons-logging")]  # fmt: skip


def works(*command, **more):
    """Whether the command succeeds; if not, its output is shown."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        print(f"{command[0]} failed:\n{done.stdout}", file=sys.stderr)
    return done.returncode == 0


def has_authlib():
    """Whether authlib is available: makes the virtual environment when it is first needed."""
    wanted = (HERE / "requirements.txt").read_text()
    stamp = LAB / "stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return True
    # Debian's own Python, so that no version manager's shim in PATH is used.
    made = works("/usr/bin/python3", "-m", "venv", "--clear", LAB) and works(
        LAB / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement",
        HERE / "requirements.txt")  # fmt: skip
    if made:
        stamp.write_text(wanted)
    return made


def python():
    if not has_authlib():
        absent("valid cached token by Python")
        return
    environment = clean_environment(
        PYTHONPATH=str(TOP / "bindings/python/src"), ENROLL_LIBRARY=str(BUILT / "libenroll.so.0"), PYTHONDONTWRITEBYTECODE="1")
    subprocess.run([LAB / "bin/python", HERE / "token_access.py"], check=True, env=environment)


def kotlin():
    what = "valid cached token by Kotlin"
    if not os.path.exists(JARS[0]):
        absent(what)
        return
    binding = TOP / "bindings/kotlin"
    environment = clean_environment()
    classes = OUT / "kotlin"
    jars = [str(TOP / "build/kotlin/enrollkit.jar"), *filter(os.path.exists, JARS)]
    compiling = {**environment, "CLASSPATH": ":".join(jars)}
    if not works(binding / "build", env=environment) or not works(
            binding / "compile", "-module-name", "bench", "-d", classes, HERE / "TokenAccess.kt", env=compiling):
        sys.exit("the Kotlin binding is not measured")
    path = ":".join([str(classes), *jars, *map(str, (TOP / ".build/kotlin/libraries").glob("*.jar"))])
    with Sandbox("--access-lifetime", "86400") as sandbox:
        process = subprocess.Popen(
            ["java", "-Xmx512m", "-cp", path, "TokenAccessKt", sandbox.issuer, workspace("store")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment)  # fmt: skip
        process.stdin.write(sandbox.play(process.stdout.readline().strip()) + "\n")
        process.stdin.close()
        rounds = [tuple(map(float, line.split())) for line in process.stdout]
        if process.wait() or not rounds:
            sys.exit("TokenAccess.kt failed")
    compare(what, *map(list, zip(*rounds)), "ns", digits=1)


if __name__ == "__main__":
    python()
    kotlin()
