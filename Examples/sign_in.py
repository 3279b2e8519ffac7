import sys

import enrollkit

if len(sys.argv) != 3:
    sys.exit("usage: sign_in.py ISSUER STORE")
issuer, store = sys.argv[1:]

configuration: enrollkit.Configuration = {
    "issuer": issuer,
    "client_id": "sample-app",
    "redirect_uri": "http://127.0.0.1/callback",
    "scopes": ["openid", "profile", "email", "offline_access"],
    "allow_loopback_http": True,  # only for a provider on this machine
}

try:
    with enrollkit.Client(configuration, store=store) as client:
        state = client.state()
        if not isinstance(state, enrollkit.AwaitingConfirmation):  # otherwise an earlier run has not confirmed yet
            transaction = client.begin()
            print("Open this in your browser:", transaction.url, flush=True)  # client.sign_in() does all of this
            state = client.await_outcome(transaction)  # the loopback listener receives the redirect
        if isinstance(state, enrollkit.AwaitingConfirmation):
            print(f"Hello, {state.profile.get('name', 'somebody')}; is this you?")
            client.confirm(transaction=state.transaction)

        token = client.access_token()  # before every request; costs nothing while it is fresh
        print("A valid token of", len(token.value), "bytes.")

        if url := client.logout().url:
            print("To end the browser's session, open:", url)
except enrollkit.EnrollError as error:
    sys.exit(f"sign_in.py: {error}")
