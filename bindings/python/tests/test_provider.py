"""Against a real provider: Canaille, signed in to with a real browser, on each face."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

import enrollkit
from stage import Stage

pytestmark = pytest.mark.provider

CUSTOM = "com.example.app:/cb"


@pytest.fixture(scope="module")
def stage():
    stage = Stage()
    yield stage
    stage.close()


def configuration(stage, redirect):
    return {
        "issuer": stage.configuration["issuer"],
        "client_id": "native",
        "redirect_uri": redirect,
        "scopes": "openid profile email",
        "allow_loopback_http": True,
    }


async def test_alice_signs_in_by_loopback_and_stays_signed_in(face, stage, store):
    redirect = stage.configuration["loopback"]
    client = await face.client(configuration(stage, redirect), store=store)
    browser, opened = ThreadPoolExecutor(1), []

    def present(action):
        opened.append(browser.submit(stage.open, action.url, redirect))

    state = await client.sign_in(present=present, confirm=lambda profile: profile["email"] == "alice@example.com")
    visit = await asyncio.wrap_future(opened[0])
    assert state == enrollkit.Active(reason="confirmed")
    assert "password" in visit["asked"] and visit["text"].strip()

    first = await client.access_token()
    assert first.type == "Bearer" and (await client.userinfo())["email"] == "alice@example.com"
    second = await client.refresh()
    assert second.value != first.value

    await client.close()
    client = await face.client(configuration(stage, redirect), store=store)
    assert await client.state() == enrollkit.Active(reason="valid")
    assert await client.access_token() == second
    assert (await client.logout()).url.startswith(stage.configuration["issuer"])
    with pytest.raises(enrollkit.EnrollReauthenticate):
        await client.access_token()


async def test_alice_comes_back_by_a_private_scheme(face, stage, store):
    client = await face.client(configuration(stage, CUSTOM), store=store)
    begun = await client.begin()
    visit = await asyncio.to_thread(stage.open, begun.action.url, CUSTOM)
    state = await client.resume(visit["redirect"])
    assert isinstance(state, enrollkit.AwaitingConfirmation) and state.profile["email"] == "alice@example.com"
    assert isinstance(await client.confirm(), enrollkit.Active)
    assert await client.access_token()
    with pytest.raises(enrollkit.EnrollAlreadySettled):
        await client.resume(visit["redirect"])
    # Without a page (prompt=none), a user whom the provider does not know gets login_required.
    begun = await client.begin(prompt="none")
    visit = await asyncio.to_thread(stage.open, begun.action.url, CUSTOM)
    with pytest.raises(enrollkit.EnrollLoginRequired) as told:
        await client.resume(visit["redirect"])
    assert told.value.oauth_error == "login_required"
