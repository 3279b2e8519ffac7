"""For a moment, a token is returned again without asking the library, but not once this program may have changed
the token."""

import os

import pytest

import enrollkit
from conftest import configuration, playing
from enrollkit import _client


@pytest.fixture
def client(sandbox, store):
    with enrollkit.Client(configuration(sandbox), store=store) as client:
        client.sign_in(present=playing(sandbox))
        client.confirm()
        yield client


@pytest.fixture
def asked(client, monkeypatch):
    """Records each time that the library is asked for a token."""
    times = []
    fresh = client._session.fresh_token
    monkeypatch.setattr(client._session, "fresh_token", lambda lifetime: times.append(lifetime) or fresh(lifetime))
    return times


def test_the_library_is_asked_once_in_a_moment(client, asked, monkeypatch):
    first = client.access_token()
    moment = _client._now()
    monkeypatch.setattr(_client, "_now", lambda: moment)
    known = len(asked)
    assert client.access_token() == client.access_token() == first
    assert len(asked) == known
    monkeypatch.setattr(_client, "_now", lambda: moment + 1)
    assert client.access_token() == first
    assert len(asked) == known + 1


@pytest.mark.parametrize(
    "wanted", [{"minimum_lifetime": 1}, {"resource": "https://api.example/"}, {"scope": "openid"}, {"timeout": -1}]
)
def test_other_wishes_are_not_answered_from_there(client, wanted):
    client._recent = recent = (object(), float("inf"), client._calls, _client._forks)
    assert client.access_token() is recent[0]
    try:
        assert client.access_token(**wanted) is not recent[0]
    except enrollkit.EnrollError as error:
        assert wanted.keys() & {"timeout", "resource", "scope"}, error


def test_what_this_program_changes_counts_at_once(client, sandbox, monkeypatch):
    monkeypatch.setattr(_client, "_now", lambda: 0)
    first = client.access_token()
    assert client.access_token() is first
    second = client.refresh()
    assert client.access_token().value == second.value != first.value
    client.logout()
    with pytest.raises(enrollkit.EnrollReauthenticate):
        client.access_token()


def test_a_closed_client_and_a_child_have_none(client, monkeypatch):
    monkeypatch.setattr(_client, "_now", lambda: 0)
    client.access_token()
    child = os.fork()
    if child == 0:
        try:
            client.access_token()
        except enrollkit.EnrollForked:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    client.close()
    with pytest.raises(enrollkit.EnrollHandle):
        client.access_token()
