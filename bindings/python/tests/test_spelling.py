"""Errors about a configuration name its keys as Python writes them."""

import pytest

import enrollkit

BASE = {"issuer": "https://id.example", "client_id": "app", "redirect_uri": "http://127.0.0.1/callback"}


@pytest.mark.parametrize(
    ("configuration", "field", "words"),
    [
        ({"issuer": "https://id.example"}, "client_id", "client_id: the key is missing"),
        ({**BASE, "client_id": ""}, "client_id", "client_id: "),
        ({**BASE, "redirect_uri": "http://app.example/"}, "redirect_uri", "redirect_uri: "),
        ({**BASE, "redirect_uri": 1}, "redirect_uri", "redirect_uri: expected a string, got integer"),
        ({**BASE, "issuer": "http://127.0.0.1:1"}, "issuer", "allow_loopback_http"),
        ({**BASE, "client_name": "app"}, "client_name", "unknown key"),
        # An error keeps JSON's names if the configuration uses them.
        ({"issuer": "https://id.example", "redirectUri": "a.b:/c"}, "clientId", "clientId: the key is missing"),
    ],
)
async def test_a_key_is_named_as_it_is_written(face, configuration, field, words):
    with pytest.raises(enrollkit.EnrollConfiguration) as raised:
        await face.client(configuration, store=enrollkit.MEMORY)
    assert raised.value.field == field and words in raised.value.message
