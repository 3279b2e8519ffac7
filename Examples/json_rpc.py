import json, subprocess, sys

if len(sys.argv) != 4:
    sys.exit("usage: json_rpc.py ENROLLD ISSUER STORE")
enrolld, issuer, store = sys.argv[1:]
try:
    daemon = subprocess.Popen([enrolld], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
except OSError as error:
    sys.exit(f"json_rpc.py: {enrolld} does not start: {error.strerror}")


def call(method, **params):
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    print(json.dumps(request), file=daemon.stdin, flush=True)
    line = daemon.stdout.readline()
    if not line:
        sys.exit("json_rpc.py: enrolld has ended")
    answer = json.loads(line)
    if "error" in answer:
        sys.exit(f"json_rpc.py: {method}: {answer['error']['message']}")
    return answer["result"]


configuration = {
    "issuer": issuer,
    "clientId": "sample-app",
    "redirectUri": "http://127.0.0.1/callback",
    "scopes": "openid profile email offline_access",
    "allowLoopbackHTTP": True,  # only for a provider on this machine
}
client = call("client.open", configuration=configuration, store=store)["client"]

state = call("registration.state", client=client)["state"]
if state["state"] != "awaitingConfirmation":  # otherwise an earlier run has not confirmed yet
    begun = call("registration.begin", client=client, kind="signIn")
    print("Open this in your browser:", begun["action"]["url"], flush=True)
    state = call("registration.awaitOutcome", client=client, transaction=begun["transaction"], timeout=600)["state"]
if state["state"] == "awaitingConfirmation":
    print(f"Hello, {state['profile'].get('name', 'somebody')}; is this you?")
    call("registration.confirm", client=client, transaction=state["transaction"])

token = call("token.access", client=client)["accessToken"]
print("A valid token of", len(token), "bytes.")

if url := call("logout.begin", client=client).get("url"):
    print("To end the browser's session, open:", url)
