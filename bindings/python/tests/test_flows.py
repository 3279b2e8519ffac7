"""Every flow that the package supports, on each face."""

import asyncio
import logging
import threading
import types
import webbrowser
from datetime import datetime, timedelta, timezone

import pytest
from sandbox import hop

import enrollkit
from conftest import CUSTOM, configuration, playing, signed_in
from enrollkit import (
    Active,
    Authenticating,
    AwaitingConfirmation,
    LinkOffer,
    OpenURL,
    ShowDeviceCode,
    Step,
    Unregistered,
    Unsolicited,
    _flow,
)


async def test_a_user_signs_in_renews_and_logs_out(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    assert await client.state() == Unregistered()
    with pytest.raises(enrollkit.EnrollReauthenticate) as nobody:
        await client.access_token()
    assert (nobody.value.blame, nobody.value.retryable) == ("user", False)

    shown = []
    state = await client.sign_in(present=lambda action: (shown.append(action), playing(sandbox)(action)))
    assert isinstance(shown[0], OpenURL)
    assert isinstance(state, AwaitingConfirmation) and state.profile["name"] == "Alice Example"
    assert await client.confirm() == Active(reason="confirmed")

    first = await client.access_token()
    assert (first.type, first.outcome, first.is_stale) == ("Bearer", "valid", False)
    assert first.authorization == f"Bearer {first.value}"
    left = first.expires_at - datetime.now(timezone.utc)
    assert timedelta(seconds=200) < left <= timedelta(seconds=300)
    assert await client.access_token(minimum_lifetime=timedelta(seconds=1)) == first
    second = await client.refresh()
    assert second.value != first.value
    assert await client.access_token() == second

    profile = await client.profile()
    assert profile["email"] == "alice@example.com"
    assert (await client.userinfo())["sub"] == profile["sub"]
    assert (await client.introspect()).active
    account = await client.account()
    assert account.profile == profile and account.access_token == second.value
    assert account.expires_at == second.expires_at

    url = (await client.logout()).url
    assert url.startswith(sandbox.issuer)
    with pytest.raises(enrollkit.EnrollReauthenticate):
        await client.access_token()


async def test_the_next_start_begins_nothing(face, sandbox, store):
    client = await signed_in(face, sandbox, store)
    token = await client.access_token()
    await client.close()
    client = await face.client(configuration(sandbox), store=store)
    assert await client.state() == Active(reason="valid")
    assert await client.access_token() == token


async def test_any_client_with_the_store_takes_the_redirect(face, sandbox, store):
    beginner = await face.client(configuration(sandbox, CUSTOM), store=store)
    begun = await beginner.begin()
    assert begun.survives_process and begun.redirect_uri == CUSTOM
    assert await beginner.state() == Authenticating(transaction=begun.id, step=Step.BROWSER)
    url = sandbox.play(begun.action.url)
    await beginner.close()

    client = await face.client(configuration(sandbox, CUSTOM), store=store)
    state = await client.resume(url, transaction=begun)
    assert isinstance(state, AwaitingConfirmation)
    with pytest.raises(enrollkit.EnrollAlreadySettled):
        await client.resume(url)
    with pytest.raises(enrollkit.EnrollUnsolicited) as unsolicited:
        await client.resume(f"{CUSTOM}?code=1&state=nobodys")
    assert unsolicited.value.status == "unsolicited" and unsolicited.value.code == -23
    assert await client.handle_url(f"{CUSTOM}?code=1&state=nobodys") == Unsolicited()


@pytest.mark.parametrize("redirect", [CUSTOM, "https://app.example/callback"])
async def test_sign_in_does_not_wait_for_a_redirect_that_it_cannot_receive(face, sandbox, store, redirect):
    client = await face.client(configuration(sandbox, redirect), store=store)
    with pytest.raises(enrollkit.EnrollUnsupported, match=r"expects a loopback redirect .*; call `begin`") as refused:
        await client.sign_in(present=lambda action: pytest.fail("a page was shown"))
    assert refused.value.field == "redirect_uri"
    assert await client.state() == Unregistered()


@pytest.mark.parametrize("named", ["enrollkit", "app.auth"])
async def test_a_browser_that_does_not_come_back_is_a_warning_in_the_log(
    face, sandbox, store, caplog, monkeypatch, named
):
    monkeypatch.setattr(_flow, "REDIRECT_HINT_DELAY", 0.01)
    logger = None if named == "enrollkit" else logging.getLogger(named)
    client = await face.client(configuration(sandbox), store=store, logger=logger)
    shown = []
    signing_in = asyncio.ensure_future(client.sign_in(present=shown.append, confirm=lambda profile: True))
    while not (warned := [one for one in caplog.records if "still waits" in one.getMessage()]):
        assert not signing_in.done()
        await asyncio.sleep(0.01)
    playing(sandbox)(shown[0])
    assert isinstance(await signing_in, Active)
    assert [(one.name, one.levelname) for one in warned] == [(named, "WARNING")]
    assert "client id: sample-app, redirect URI: http://127.0.0.1:" in warned[0].getMessage()
    assert "the port included" in warned[0].getMessage()


@pytest.fixture
def foreground(monkeypatch):
    """A browser whose program ends only when the user closes it (`closed`), and then reports a failure."""
    closed = threading.Event()
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or (closed.wait(60) and False))
    yield types.SimpleNamespace(opened=opened, closed=closed)
    closed.set()


async def test_a_browser_that_stays_in_the_foreground_does_not_hold_up_the_redirect(face, sandbox, store, foreground):
    client = await face.client(configuration(sandbox), store=store)
    signing_in = asyncio.ensure_future(client.sign_in())
    while not foreground.opened:
        await asyncio.sleep(0.01)
    playing(sandbox)(OpenURL(url=foreground.opened[0]))
    assert isinstance(await asyncio.wait_for(signing_in, 20), AwaitingConfirmation)


async def test_a_browser_that_stays_in_the_foreground_does_not_outlast_the_timeout(face, sandbox, store, foreground):
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollDeadlineExceeded):
        await asyncio.wait_for(client.sign_in(timeout=1), 20)
    assert isinstance(await client.state(), Authenticating)


async def test_a_browser_that_fails_late_ends_the_wait(face, sandbox, store, foreground):
    client = await face.client(configuration(sandbox), store=store)
    signing_in = asyncio.ensure_future(client.sign_in())
    await asyncio.sleep(0.5)
    assert not signing_in.done()
    foreground.closed.set()
    with pytest.raises(enrollkit.EnrollUnsupported, match="no browser could be opened; show the user") as refused:
        await asyncio.wait_for(signing_in, 20)
    assert refused.value.field == "present"
    assert await client.state() == Unregistered()


async def test_a_browser_that_fails_after_the_user_signed_in_changes_nothing(
    face, sandbox, store, foreground, monkeypatch
):
    monkeypatch.setattr("enrollkit._client._AT_ONCE", 60)
    client = await face.client(configuration(sandbox), store=store)
    signing_in = asyncio.ensure_future(client.sign_in())
    while not foreground.opened:
        await asyncio.sleep(0.01)
    playing(sandbox)(OpenURL(url=foreground.opened[0]))
    watching = await face.client(configuration(sandbox), store=store)
    while not isinstance(await watching.state(), AwaitingConfirmation):
        await asyncio.sleep(0.01)
    foreground.closed.set()
    assert isinstance(await asyncio.wait_for(signing_in, 20), AwaitingConfirmation)


async def test_a_browser_variable_that_names_no_program_is_an_error_of_enrollkit(face, sandbox, store, monkeypatch):
    def open_it(url):
        raise ValueError("No closing quotation")

    monkeypatch.setattr(webbrowser, "open", open_it)
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollUnsupported, match="no browser could be opened"):
        await asyncio.wait_for(client.sign_in(), 20)


async def test_an_invalid_timeout_is_refused_before_a_browser_opens(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    shown = []
    with pytest.raises(enrollkit.EnrollInvalidArgument):
        await client.sign_in(present=shown.append, timeout=-1)
    assert shown == [] and await client.state() == Unregistered()


async def test_a_sign_in_whose_task_is_cancelled_leaves_no_transaction(aio_face, sandbox, store):
    client = await aio_face.client(configuration(sandbox), store=store)
    shown = []
    signing_in = asyncio.ensure_future(client.sign_in(present=shown.append))
    while not shown:
        await asyncio.sleep(0.01)
    signing_in.cancel()
    with pytest.raises(asyncio.CancelledError):
        await signing_in
    assert await client.state() == Unregistered()


async def test_a_sign_in_that_ends_in_time_leaves_no_hint_behind(face, sandbox, store, monkeypatch):
    hints = []
    monkeypatch.setattr(_flow, "log_redirect_hint", lambda logger, transaction: hints.append(transaction))
    monkeypatch.setattr(_flow, "REDIRECT_HINT_DELAY", 3600)
    await signed_in(face, sandbox, store)
    assert not hints
    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer) and not one.finished.is_set()]


async def test_a_user_who_says_no_to_the_profile_gives_the_tokens_back(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollAccessDenied, match="did not confirm the profile") as denied:
        await client.sign_in(present=playing(sandbox), confirm=lambda profile: profile["name"] != "Alice Example")
    assert (denied.value.blame, denied.value.oauth_error) == ("user", None)
    assert await client.state() == Unregistered()


async def test_a_user_who_says_no_keeps_the_earlier_session(face, sandbox, store):
    client = await signed_in(face, sandbox, store)
    token = await client.access_token()
    with pytest.raises(enrollkit.EnrollAccessDenied):
        await client.sign_in(present=playing(sandbox), confirm=lambda profile: False)
    assert await client.access_token() == token


@pytest.mark.parametrize("answer", [None, 1, "y"])
async def test_an_answer_that_is_no_bool_neither_confirms_nor_revokes(face, sandbox, store, answer):
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollInvalidArgument) as refused:
        await client.sign_in(present=playing(sandbox), confirm=lambda profile: answer)
    expected = f"confirm: expected a function that returns True or False, got {type(answer).__name__}"
    assert (refused.value.message, refused.value.field) == (expected, "confirm")
    assert await client.sign_in(confirm=lambda profile: True) == Active(reason="confirmed")


async def test_a_sign_in_that_ended_at_the_question_goes_on_with_the_question(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)

    def ended(profile):
        raise EOFError

    with pytest.raises(EOFError):
        await client.sign_in(present=playing(sandbox), confirm=ended)
    await client.close()

    # The program starts again: no page is shown, and nothing is lost.
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollIllegalState):
        await client.access_token()
    unseen = {"present": lambda action: pytest.fail("a page was shown")}
    state = await client.sign_in(**unseen)
    assert isinstance(state, AwaitingConfirmation) and state.profile["name"] == "Alice Example"
    seen = []
    state = await client.sign_in(**unseen, confirm=lambda profile: seen.append(profile["name"]) or True)
    assert (state, seen) == (Active(reason="confirmed"), ["Alice Example"])
    assert (await client.access_token()).outcome == "valid"


async def test_a_yes_to_one_profile_confirms_no_other(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    other = await face.client(configuration(sandbox, CUSTOM), store=store)
    late = await other.begin()
    asked = await client.sign_in(present=playing(sandbox))
    assert isinstance(asked, AwaitingConfirmation)
    await other.resume(sandbox.play(late.url))
    for answer in (client.confirm, client.retry):
        with pytest.raises(enrollkit.EnrollIllegalState):
            await answer(transaction=asked.transaction)
    account = await client.account()
    assert (account.profile, account.waiting.transaction) == (None, late.id)


async def test_a_sign_in_that_the_state_does_not_allow_fails_as_begin_does(face, sandbox, store):
    client = await face.client(configuration(sandbox, native=False, stand_in_token="t"), store=store)
    with pytest.raises(enrollkit.EnrollIllegalState, match="needs a native platform"):
        await client.sign_in(present=lambda action: pytest.fail("a page was shown"))


async def test_what_the_provider_says_is_told(face, own_sandbox, store):
    sandbox = own_sandbox()
    client = await face.client(configuration(sandbox, CUSTOM), store=store)
    begun = await client.begin()
    redirect = sandbox.control("settle", url=begun.action.url, error="access_denied")["redirect"]
    with pytest.raises(enrollkit.EnrollAccessDenied) as denied:
        await client.resume(redirect)
    assert (denied.value.oauth_error, denied.value.blame) == ("access_denied", "user")
    state = await client.state()
    assert isinstance(state, enrollkit.RegistrationFailed)
    assert isinstance(state.error, enrollkit.EnrollAccessDenied) and state.error.oauth_error == "access_denied"


async def test_a_device_shows_a_code(face, own_sandbox, store):
    sandbox = own_sandbox("--device-interval", "1")
    client = await face.client(configuration(sandbox), store=store)
    shown = []

    def present(action):
        shown.append(action)
        sandbox.control("device", userCode=action.user_code)

    state = await client.sign_in(kind=enrollkit.TransactionKind.DEVICE, present=present, confirm=lambda profile: True)
    assert isinstance(shown[0], ShowDeviceCode) and shown[0].verification_uri == f"{sandbox.issuer}/device"
    assert isinstance(state, Active)


async def test_a_device_without_present_is_told_what_to_show(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollUnsupported) as refused:
        await client.sign_in(kind="device")
    assert refused.value.message.endswith("present=lambda action: print(action.verification_uri, action.user_code)")
    assert await client.state() == Unregistered()


async def test_an_outage_makes_a_token_stale_and_then_expired(face, own_sandbox, store):
    sandbox = own_sandbox()
    client = await signed_in(face, sandbox, store)
    sandbox.control("fault", fault="serverError", endpoint="token")
    token = await client.refresh()
    assert token.is_stale and token.reason == "server"
    assert isinstance(token.error, enrollkit.EnrollServer)
    sandbox.control("clearFaults")
    sandbox.control("endSessions")
    # The next renewal is sent only after the pause that follows a failure.
    await until_raised(client.refresh, enrollkit.EnrollReauthenticate)


async def test_a_token_that_expired_says_why_it_was_not_renewed(face, own_sandbox, store):
    sandbox = own_sandbox("--access-lifetime", "1")
    client = await signed_in(face, sandbox, store)
    sandbox.control("fault", fault="serverError", endpoint="token")
    expired = await until_raised(client.access_token, enrollkit.EnrollExpired)
    assert (expired.blame, expired.retryable, expired.http_status) == ("network", True, 503)
    assert isinstance(expired.__cause__, enrollkit.EnrollServer)


async def until_raised(ask, kind):
    """Calls `ask` until it raises `kind`, and returns that error."""
    for _ in range(500):
        try:
            await ask()
        except kind as raised:
            return raised
        await asyncio.sleep(0.02)
    raise AssertionError(f"{kind.__name__} was never raised")


async def test_events_come_in_their_order_and_end_with_the_client(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    events = await face.events(client)
    await client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
    await client.refresh()
    told = []
    while not told or not isinstance(told[-1], enrollkit.TokenRenewed):
        event = await events.get(30)
        assert event is not None, told
        told.append(event)
    states = [type(one.state) for one in told if isinstance(one, enrollkit.RegistrationChanged)]
    order = [kind for kind in (Unregistered, Authenticating, AwaitingConfirmation, Active) if kind in states]
    assert order == list(dict.fromkeys(states)) and len(order) >= 3
    assert told[-1].expires_at > datetime.now(timezone.utc)
    assert await events.get(0) is None
    waiting = asyncio.ensure_future(events.get())
    await client.close()
    while (event := await waiting) is not None:
        waiting = asyncio.ensure_future(events.get())


async def test_a_stream_of_events_is_an_iterator(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    if face.is_async:
        async with client.events() as events:
            await client.state()
            first = [event async for event in until_settled(events)]
        assert [event async for event in events] == []
    else:
        with client.real.events() as events:
            await client.state()
            first = await asyncio.to_thread(lambda: [next(events), next(events)])
        assert list(events) == []
    assert {type(event) for event in first} == {enrollkit.RegistrationChanged, enrollkit.RegistrationSettled}


async def until_settled(events):
    async for event in events:
        yield event
        if isinstance(event, enrollkit.RegistrationSettled):
            return


async def test_a_logger_is_told_what_happens(face, sandbox, store, caplog):
    caplog.set_level(logging.DEBUG)
    client = await signed_in(face, sandbox, store, logger=logging.getLogger("app.auth"))
    await client.refresh()

    async def told():
        words = [record.getMessage() for record in caplog.records if record.name == "app.auth"]
        if any("renewed" in word for word in words):
            raise LookupError(words)

    words = (await until_raised(told, LookupError)).args[0]
    assert "registration: awaitingConfirmation" in words
    assert any(word.startswith("tokens were renewed; they expire at 20") for word in words)


async def test_a_token_of_type_dpop_comes_with_proofs(face, own_sandbox, store):
    sandbox = own_sandbox("--dpop", "required")
    client = await signed_in(face, sandbox, store)
    token = await client.access_token()
    assert token.type == "DPoP" and token.authorization == f"DPoP {token.value}"
    url = f"{sandbox.issuer}/userinfo"
    proof = await client.dpop_proof("GET", url, access_token=token.value)
    assert hop(url, {"Authorization": token.authorization, "DPoP": proof}).status == 200


async def test_another_audience_has_a_token_of_its_own(face, own_sandbox, store):
    sandbox = own_sandbox()
    client = await signed_in(face, sandbox, store)
    own = await client.access_token()
    api = await client.access_token(resource="https://api.example.com/", scope=["profile", "openid"])
    assert api != own
    assert await client.access_token(resource="https://api.example.com/", scope="openid profile") == api
    assert await client.access_token() == own
    renewed = await client.refresh(resource="https://api.example.com/", scope="openid profile")
    assert renewed.value not in (own.value, api.value)
    kept = await client.tokens()
    assert [(one.resource, one.scope) for one in kept] == [(None, None), ("https://api.example.com/", "openid profile")]
    assert await client.access_token() == own
    with pytest.raises(enrollkit.EnrollRejected) as refused:
        await client.access_token(resource="https://unknown.example.com/")
    assert refused.value.oauth_error == "invalid_target"
    with pytest.raises(enrollkit.EnrollInvalidArgument):
        await client.access_token(resource="https://api.example.com/#part")


async def test_what_needs_no_client(face, sandbox, store):
    core = await face.core()
    described = await core.describe()
    assert described.version == enrollkit.__version__
    pair = await core.pkce()
    assert len(pair.code_verifier) == 43
    link = await core.parse_link("com.example.app:/callback?a=b")
    assert (link.kind, link.scheme, link.path, link.query) == ("privateScheme", "com.example.app", "/callback", "a=b")
    redirect = await core.parse_redirect(f"{CUSTOM}?code=c&state=s&iss=https%3A%2F%2Fid.example")
    assert (redirect.code, redirect.state, redirect.iss) == ("c", "s", "https://id.example")
    ours, theirs = configuration(sandbox, CUSTOM), configuration(sandbox, "com.example.other:/callback")
    route = await core.route([theirs, ours], f"{CUSTOM}?code=c&state=s")
    assert (route.index, route.kind) == (1, enrollkit.Ownership.REDIRECT)
    nobody = await core.route([theirs], f"{CUSTOM}?code=c&state=s")
    assert (nobody.index, nobody.kind) == (None, None)
    noon = datetime(2030, 1, 1, 12, tzinfo=timezone.utc)
    for now, band in ((noon - timedelta(hours=1), "fresh"), (noon - timedelta(seconds=9), "due"), (noon, "expired")):
        assert (await core.check_expiry(noon, now=now, grace=timedelta(seconds=10))).band == band

    assert await core.accounts(store) == ()
    assert not (await core.diagnose(store)).exists
    client = await signed_in(face, sandbox, store, account="zoë 🦉")
    assert await core.accounts(store) == ("zoë 🦉",)
    diagnosis = await core.diagnose(store)
    assert diagnosis.exists and diagnosis.accounts == 1 and diagnosis.key_providers == ("file",)
    assert await core.rekey(store, new_data_key=True) == "file"
    assert (await client.access_token()).outcome == "valid"
    await client.close()
    await core.reset_installation(store)
    await core.remove_account(store, "zoë 🦉")
    assert await core.accounts(store) == ()


async def test_a_passphrase_guards_a_store(face, sandbox, store):
    keys = enrollkit.Keys("passphrase", passphrase="correct horse")
    assert "correct horse" not in repr(keys)
    await (await signed_in(face, sandbox, store, keys=keys)).close()
    keys = enrollkit.Keys("passphrase", passphrase="battery staple")
    client = await face.client(configuration(sandbox), store=store, keys=keys)
    with pytest.raises(enrollkit.EnrollStoreError) as wrong:
        await client.access_token()
    assert wrong.value.status == "storeKey" and wrong.value.blame == "host"


async def test_a_pin_guards_an_account(face, sandbox, store):
    client = await signed_in(face, sandbox, store)
    await client.set_pin("2468")
    await client.close()
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollStoreLocked) as locked:
        await client.access_token()
    assert locked.value.retryable
    wrong = await client.unlock("1111")
    assert (wrong.outcome, wrong.tries_left > 0) == (enrollkit.PINOutcome.WRONG, True)


async def test_the_platform_is_waited_for(face, sandbox, store):
    client = await face.client(
        configuration(sandbox),
        store=store,
        wait_for_platform=True,
        platform={"type": "kiosk", "width": 800, "height": 600, "app_version": "1.2", "device_id": "d-1"},
    )
    waiting = asyncio.ensure_future(client.state(wait=True))
    await client.platform_ready()
    assert await waiting == Unregistered()
    diagnostics = await client.diagnostics()
    assert diagnostics["state"]


async def test_a_link_that_nobody_waits_for_is_told(face, sandbox, store):
    link = "https://app.example/welcome/{activationToken}"
    client = await face.client(configuration(sandbox, CUSTOM, app_links=[link]), store=store)
    told = await client.handle_link("https://app.example/welcome/abcdefghijklmnop")
    assert isinstance(told, Unsolicited) and told.offers[0] in (LinkOffer.SIGN_IN, LinkOffer.REGISTER)
