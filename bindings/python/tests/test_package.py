"""The package itself: it agrees with the library, its types hold, and its wheel works in another environment."""

import ctypes
import inspect
import json
import logging
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import enrollkit
import enrollkit.aio
from conftest import HERE, TOP, configuration, playing, signed_in
from enrollkit import _abi
from enrollkit._generated import commands as _commands
from enrollkit._generated import statuses as _statuses
from enrollkit._generated import types as _types

PACKAGE = HERE.parent


def checked(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE, check=False, **more)


def test_library_and_daemon_have_one_manifest():
    buffer, error = _abi.Buffer(), _abi.Error.empty()
    library = _abi.load()
    _abi.check(library.enroll_manifest(ctypes.byref(buffer), ctypes.byref(error)), error)
    manifest = json.loads(ctypes.string_at(buffer.data, buffer.size))
    library.enroll_buf_free(ctypes.byref(buffer))
    daemon = subprocess.run([os.environ["ENROLLD"], "--manifest"], capture_output=True, text=True, check=True)
    assert json.loads(daemon.stdout) == manifest


def constant(name):
    value = ctypes.c_int64()
    assert _abi.load().enroll_constant(name.encode(), len(name), ctypes.byref(value)) == 0, name
    return value.value


def test_structs_and_constants_are_the_librarys():
    for name, struct in _abi.STRUCTS.items():
        assert ctypes.sizeof(struct) == constant(f"sizeof({name})"), name
        text = (TOP / "include/enroll.h").read_text()
        body = re.search(rf"struct {name} \{{(.*?)\n\}}", text, re.S)[1]
        members = re.findall(r"\(?\*?(\w+)\)?(?:\[\w+\]|\([^;]*\))?;", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
        assert members == [member for member, *_ in struct._fields_], name
    assert constant("ENROLL_NO_TIMEOUT") == _abi.NO_TIMEOUT
    assert constant("ENROLL_SECRET_SIZE") == _abi.SECRET_SIZE
    assert constant("ENROLL_ACCESS_VALID") == _abi.ACCESS_VALID
    assert constant("ENROLL_STORE_MEMORY") == _abi.STORE_MEMORY
    assert constant("ENROLL_KEYS_HOST") == _abi.KEYS_HOST
    for name, value in _abi.KEY_PROVIDERS.items():
        assert constant(f"ENROLL_KEYS_{name.upper().replace('-', '_')}") == value
    for status, kind in _statuses.BY_STATUS.items():
        shouted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", status).upper()
        assert constant(f"ENROLL_E_{shouted}") == kind.code
    assert constant("ENROLL_ABI_VERSION") == _types.ABI
    assert _abi.load().enroll_version_string().decode() == enrollkit.__version__
    assert f'version = "{enrollkit.__version__}"' in (PACKAGE / "pyproject.toml").read_text()


def public(kind):
    return {name: value for name, value in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_both_clients_have_the_same_methods():
    pairs = (
        (enrollkit.Client, enrollkit.aio.Client),
        (enrollkit.Library, enrollkit.aio.Library),
        (enrollkit.Daemon, enrollkit.aio.Daemon),
        (enrollkit.EventStream, enrollkit.aio.EventStream),
    )
    # The two signatures differ only in types that are awaited.
    awaited = re.compile(r"Union\[([\w\[\], ]+?), Awaitable\[\1\]\]")
    for plain, asynchronous in pairs:
        assert public(plain).keys() == public(asynchronous).keys()
        for name in [*public(plain), "__init__"]:
            if plain is enrollkit.EventStream and name == "__init__":
                continue
            one, other = (str(inspect.signature(getattr(kind, name))) for kind in (plain, asynchronous))
            assert one == awaited.sub(r"\1", other).replace("AsyncTransport", "Transport"), name
    for name in public(_commands.ClientCommands):
        assert getattr(enrollkit.Client, name).__doc__ == getattr(enrollkit.aio.Client, name).__doc__


def test_everything_public_is_documented():
    for module in (enrollkit, enrollkit.aio):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                assert value.__doc__, name
                for method, code in public(value).items():
                    assert code.__doc__ or not inspect.isfunction(code), f"{name}.{method}"
    for name in ("await_outcome", "begin", "access_token", "refresh", "dpop_proof", "revoke"):
        words = getattr(enrollkit.Client, name).__doc__
        assert "Raises:" in words and "Command: " in words, name
    assert "Command: token.access. Source: RFC 6749 §6, RFC 8707." in enrollkit.Client.access_token.__doc__
    assert "EnrollReauthenticate" in enrollkit.Client.access_token.__doc__
    assert "at most nine tenths of its whole life" in " ".join(enrollkit.Client.access_token.__doc__.split())
    assert "EnrollUnsolicited" not in enrollkit.Client.handle_url.__doc__


def test_types_hold():
    found = checked(sys.executable, "-m", "mypy", "--strict", "--cache-dir", TOP / ".build/python/mypy")
    assert found.returncode == 0, found.stdout


def test_a_programs_types_are_checked(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import enrollkit\n"
        "configuration: enrollkit.Configuration = {\n"
        '    "issuer": "https://id.example", "client_id": "a", "redirect_uri": "http://127.0.0.1/cb"}\n'
        "with enrollkit.Client(configuration, store=enrollkit.MEMORY) as client:\n"
        "    state = client.state()\n"
        "    if isinstance(state, enrollkit.RenewalFailed):\n"
        "        reveal_type(state.remedy)\n"
        "    reveal_type(client.access_token().expires_at)\n"
        '    client.begin(kind="teleport")\n'
        '    configuration["colour"] = "red"\n'
    )
    found = checked(
        sys.executable, "-m", "mypy", "--strict", "--cache-dir", TOP / ".build/python/mypy", program,
        env={**os.environ, "MYPYPATH": str(PACKAGE / "src")},
    )  # fmt: skip
    told = [re.sub(r".*program.py:(\d+): ", r"\1 ", line) for line in found.stdout.splitlines()]
    assert told[0].startswith("7 note: Revealed type is") and "Remedy" in told[0]
    assert told[1].startswith("8 note: Revealed type is") and "datetime" in told[1] and "None" in told[1]
    assert [line.partition(" error")[0] for line in told[2:4]] == ["9", "10"], told


def test_the_code_is_as_ruff_likes_it():
    for command in (["check"], ["format", "--check"]):
        found = checked(sys.executable, "-m", "ruff", *command, "--no-cache", ".")
        assert found.returncode == 0, found.stdout + found.stderr


async def test_nothing_that_is_printed_or_logged_holds_a_secret(face, own_sandbox, store, caplog):
    from canary import Canaries

    caplog.set_level(logging.DEBUG)
    sandbox = own_sandbox("--dpop", "offered")
    seen = []
    client = await signed_in(face, sandbox, store, logger=logging.getLogger("app"))
    events = await face.events(client)
    begun = await client.begin()
    core = await face.core()
    pair = await core.pkce()
    redirect = await core.parse_redirect("com.example.app:/cb?code=sesame-street&state=of-the-union")
    first = await client.access_token()
    second = await client.refresh()
    account = await client.account()
    seen += [begun, begun.action, pair, redirect, first, second, account, await client.state(), await events.get(30)]
    for bad in (client.resume("com.example.app:/cb?code=sesame-street&state=of-the-union"), client.unlock("2468-2468")):
        with pytest.raises(enrollkit.EnrollError) as told:
            await bad
        seen += [told.value, told.value.__dict__]
    canaries = Canaries()
    canaries.add("verifier", pair.code_verifier)
    canaries.add("code", redirect.code)
    canaries.add("state", redirect.state)
    for token in (first, second):
        canaries.add("access token", token.value)
    canaries.add("id_token", account.id_token)
    canaries.add("state of the URL", re.search(r"state=([^&]+)", begun.action.url + "&state=no-state-here")[1])
    canaries.add("e-mail", "alice@example.com")
    text = "\n".join(f"{one!r}\n{one}" for one in [*seen, client, core]) + caplog.text
    # The fixed texts of the tests themselves are not secrets of a session.
    assert list(canaries.sightings("what was printed", text)) == []
    assert canaries.known and first.value in first.authorization


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel that `pip install ./bindings/python` builds, without the network."""
    directory = tmp_path_factory.mktemp("wheel")
    built = checked(
        sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", directory, PACKAGE
    )
    assert built.returncode == 0, built.stderr
    return next(directory.glob("*.whl"))


def test_the_wheel_carries_the_library_and_its_types(wheel):
    assert re.fullmatch(r"enrollkit-0\.1\.0-py3-none-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read("enrollkit-0.1.0.dist-info/METADATA").decode()
        for name in ("libenroll.so.0", "enrolld"):
            content = archive.read(f"enrollkit/_lib/{name}")
            assert content == (TOP / "build/lib" / name).read_bytes()
    assert "enrollkit/py.typed" in names and not [name for name in names if "tests" in name]
    assert not re.findall(r"^Requires-Dist: (?!.*extra ==).*$", metadata, re.M)
    assert "Requires-Python: >=3.9" in metadata


def elsewhere(tmp_path, wheel):
    """A virtual environment with the wheel installed; returns its Python."""
    # The pip of this environment installs into the new environment, because installing a pip there takes most
    # of a minute.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "--no-index", wheel], check=True)
    return python


def bare():
    """The environment without the variables with which the tests name the library."""
    names = ("ENROLL_LIBRARY", "ENROLLD", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in names}


def test_the_first_token_in_a_fresh_environment(wheel, sandbox, tmp_path):
    python = elsewhere(tmp_path, wheel)
    for over in ("Library", "Daemon"):
        program = subprocess.Popen(
            [python, "-u", TOP / "Examples/sign_in.py", sandbox.issuer, tmp_path / over]
            if over == "Library"
            else [python, "-u", "-c", daemon_example(), sandbox.issuer, tmp_path / over],
            cwd=tmp_path, env=bare(), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = program.stdout.readline()
        follow(sandbox, line[line.index("http") :].strip())
        output = program.communicate(timeout=60)[0]
        assert program.returncode == 0 and "A valid token of 43 bytes" in output, output
    found = subprocess.run(
        [python, "-c", "import enrollkit; print(enrollkit.Library(), enrollkit.Daemon())"],
        cwd=tmp_path, env=bare(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.count(str(tmp_path / "venv")) == 2


def daemon_example():
    text = (TOP / "Examples/sign_in.py").read_text()
    return text.replace("store=store)", "store=store, over=enrollkit.Daemon())")


def follow(sandbox, url):
    from sandbox import come_back

    come_back(sandbox.play(url)).read()


def test_without_a_library_there_are_clear_words(wheel, tmp_path):
    """Sources without their checkout, and a machine without Swift."""
    alone = tmp_path / "bindings/python"
    alone.parent.mkdir(parents=True)
    subprocess.run(["cp", "-r", PACKAGE, alone], check=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        tmp_path / "out",
        alone,
    ]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "Install from a checkout" in refused.stderr
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/build").write_text("")
    path = ":".join(part for part in os.environ["PATH"].split(":") if not Path(part, "swiftc").exists())
    refused = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
    assert refused.returncode != 0 and "Install Swift 6.3" in refused.stderr
    system = {**os.environ, "ENROLLKIT_SYSTEM_LIBRARY": "1"}
    subprocess.run(command, check=True, env=system)
    pure = next((tmp_path / "out").glob("*.whl"))
    assert pure.name == "enrollkit-0.1.0-py3-none-any.whl"
    python = elsewhere(tmp_path, pure)
    script = "import enrollkit; print(enrollkit.Library().describe().version)"
    told = subprocess.run([python, "-c", script], capture_output=True, text=True, env=bare(), check=False)
    assert "EnrollLibraryError" in told.stderr or told.stdout
    named = {**bare(), "ENROLL_LIBRARY": str(TOP / "build/lib/libenroll.so.0")}
    told = subprocess.run([python, "-c", script], capture_output=True, text=True, env=named, check=True)
    assert told.stdout == "0.1.0\n"


def test_the_library_is_built_where_it_is_missing(tmp_path):
    """The checkout's own build script builds the library; a stand-in replaces that script here."""
    alone = tmp_path / "bindings/python"
    alone.parent.mkdir(parents=True)
    subprocess.run(["cp", "-r", PACKAGE, alone], check=True)
    (tmp_path / "scripts").mkdir()
    for name, body in (
        ("setup", "exit 0"),
        (
            "build",
            f"[ $# -eq 0 ] && mkdir -p build/lib && cp {TOP}/build/lib/{{libenroll.so.0,enrolld}} build/lib",
        ),
    ):
        script = tmp_path / "scripts" / name
        script.write_text(f'#!/usr/bin/env bash\nset -e\ncd "$(dirname "$0")/.."\n{body}\n')
        script.chmod(0o755)
    swift = tmp_path / "bin/swiftc"
    swift.parent.mkdir()
    swift.write_text("#!/bin/sh\n")
    swift.chmod(0o755)
    environment = {**os.environ, "PATH": f"{swift.parent}:{os.environ['PATH']}"}
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        tmp_path / "out",
        alone,
    ]
    command[command.index("-q")] = "-v"

    def told():
        made = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
        return made.stdout + made.stderr

    assert "there is no build/lib, so libenroll is built first" in told()
    assert (tmp_path / "build/lib/enrolld").exists()
    assert next((tmp_path / "out").glob("enrollkit-0.1.0-py3-none-linux_*.whl"))
    # An existing library is used without a message; a library that is older than its sources is used with a message.
    assert "build/lib" not in told()
    (tmp_path / "include").mkdir()
    (tmp_path / "include/enroll.h").touch()
    os.utime(tmp_path / "build/lib/libenroll.so.0", (1893456000 - 1e9,) * 2)
    assert "build/lib is of 1998-04-" in told()


EXAMPLE = re.compile(r"```python\n(.*?)```", re.S)


def test_the_readmes_examples_run(own_sandbox, tmp_path):
    """The examples run one after the other in one program; the test plays the browser and the device's user."""
    sandbox = own_sandbox("--device-interval", "1")
    blocks = EXAMPLE.findall((PACKAGE / "README.md").read_text())
    assert len(blocks) >= 8
    prelude = f"""
import builtins, json, re, webbrowser, threading, sys, urllib.request
sys.path.insert(0, {str(TOP / "Tests/faces/CTests")!r})
from sign_in import play_user
webbrowser.open = lambda url: threading.Thread(target=play_user, args=(url,)).start() or True
api = {sandbox.issuer + "/userinfo"!r}


def print(*words, **more):
    builtins.print(*words, **more)
    if code := re.search(r"enter the code (.+)", str(words[0])):
        typed = json.dumps({{"do": "device", "userCode": code[1]}}).encode()
        control = {sandbox.issuer + "/_control"!r}
        urllib.request.urlopen(urllib.request.Request(control, typed, {{"Content-Type": "application/json"}})).close()


"""
    text = (
        "\n".join(blocks)
        .replace("https://id.example", sandbox.issuer)
        .replace("https://api.example/things", f"{sandbox.issuer}/userinfo")
    )
    text = text.replace("/home/me/.local/share/app", str(tmp_path / "store"))
    text = text.replace('"redirect_uri"', '"allow_loopback_http": True, "redirect_uri"')
    program = tmp_path / "readme.py"
    program.write_text(prelude + text)
    done = subprocess.run(
        [sys.executable, program], input="Y\nyes\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Alice Example") >= 3, done.stdout
    assert "/device and enter the code " in done.stdout


def test_the_signature_of_sign_in_is_a_part_of_begins():
    begin = inspect.signature(enrollkit.Client.begin).parameters
    for name in inspect.signature(enrollkit.Client.sign_in).parameters:
        assert name in begin or name in ("present", "confirm"), name
    assert playing and configuration
