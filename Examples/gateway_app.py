import sys

import enrollkit

if len(sys.argv) != 4:
    sys.exit("usage: gateway_app.py GATEWAY STORE PROVIDER")
gateway, store, provider = sys.argv[1:]

configuration: enrollkit.Configuration = {
    "issuer": gateway,
    "client_id": "python-app",  # the app's id in the gateway's configuration
    "redirect_uri": "http://127.0.0.1/callback",
    "scopes": ["profile"],
    "bff": {"base": gateway},
    "registration_check_uri": f"{gateway}/v1/registration-check",
    "require_check": True,  # notices a session that the user ended elsewhere
    "allow_loopback_http": True,  # only for a gateway on this machine
}

try:
    with enrollkit.Client(configuration, store=store) as client:
        state = client.state(wait=True)
        if not isinstance(state, (enrollkit.Active, enrollkit.AwaitingConfirmation)):
            transaction = client.begin(kind="bff", connection=provider, parameters={"app": "python-app"})
            print("Open this in your browser:", transaction.url, flush=True)
            state = client.await_outcome(transaction)
        if isinstance(state, enrollkit.AwaitingConfirmation):
            client.confirm(transaction=state.transaction)  # a real app first shows the profile and asks the user
        claims = client.userinfo()
        print(f"Signed in as {claims['name']}, account {claims['sub']}.")
except enrollkit.EnrollError as error:
    sys.exit(f"gateway_app.py: {error}")
