"""Notes: a program that signs its user in once and asks an API who the user is. docs/tutorial/python.md
explains each part."""

# example: configuration
import json
import pathlib
import sys
import urllib.request

import enrollkit

if len(sys.argv) < 2:
    sys.exit("usage: notes.py ISSUER [logout]")
issuer = sys.argv[1]
configuration: enrollkit.Configuration = {
    "issuer": issuer,
    "client_id": "sample-app",
    "redirect_uri": "http://127.0.0.1/callback",
    "scopes": ["openid", "profile", "email", "offline_access"],
    "allow_loopback_http": True,  # only for a provider on this machine
}
store = pathlib.Path.home() / ".notes"
# end


# example: sign-in
def is_me(profile):
    return input(f"Are you {profile.get('name', 'somebody')}? [y/n] ").strip().lower() in ("y", "yes")


def access_token(client):
    try:
        return client.access_token()  # from memory, or renewed if it is due
    except (enrollkit.EnrollReauthenticate, enrollkit.EnrollIllegalState):  # nobody is signed in, or not confirmed
        client.sign_in(confirm=is_me, timeout=300)  # opens the browser, and waits until it comes back
        return client.access_token()
# end


# example: request
def who(client):
    headers = {"Authorization": access_token(client).authorization}
    with urllib.request.urlopen(urllib.request.Request(f"{issuer}/userinfo", headers=headers)) as answer:
        return json.load(answer)
# end


# example: main
try:
    with enrollkit.Client(configuration, store=store) as client:
        if sys.argv[2:] == ["logout"]:
            client.logout()
            print("You are signed out.")
        else:
            print(f"The API knows you as {who(client)['name']}.")
except enrollkit.EnrollError as error:
    sys.exit(f"notes.py: {error}")
except OSError as error:
    sys.exit(f"notes.py: the API does not answer: {error}")
# end
