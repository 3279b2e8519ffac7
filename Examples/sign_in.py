import sys

import enrollkit

issuer, store = sys.argv[1:3]

configuration: enrollkit.Configuration = {
    "issuer": issuer,
    "client_id": "sample-app",
    "redirect_uri": "http://127.0.0.1/callback",
    "scopes": ["openid", "profile", "email", "offline_access"],
    "allow_loopback_http": True,  # only for a provider on this machine
}

with enrollkit.Client(configuration, store=store) as client:
    transaction = client.begin()
    print("Open this in your browser:", transaction.url)  # or client.sign_in() for all of this

    state = client.wait(transaction)  # the redirect comes back to a port of ours
    if isinstance(state, enrollkit.AwaitingConfirmation):
        print(f"Hello, {state.profile.get('name', 'somebody')}; is this you?")
        client.confirm()

    token = client.access_token()  # before every request; costs nothing while it is fresh
    print("A valid token of", len(token.value), "bytes.")

    print("To end the browser's session, open:", client.logout())
