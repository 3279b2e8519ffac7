// Notes: a page of a hybrid app that signs its user in once and asks an API who the user is. docs/tutorial/hybrid.md
// explains each part.

// example: open
async function start(configuration) {
  const client = await enroll.open({ configuration, renewInBackground: true });
  client.subscribe('registration.changed', ({ state }) => show(client, state));
  show(client, (await client.registration.state()).state); // of this start, or of one before
  return client;
}
// end

// example: show
function show(client, { state, step, transaction, profile }) {
  const mayBegin = state === 'unregistered' || (state === 'authenticating' && step === 'browser');
  button('sign-in', mayBegin, () => client.signIn()); // the redirect comes back by itself
  button('yes', state === 'awaitingConfirmation', () => client.registration.confirm({ transaction }));
  button('sign-out', state === 'active', () => client.logout.begin());
  if (profile) document.getElementById('yes').textContent = `Yes, I am ${profile.name || 'this person'}`;
}

function button(id, isShown, act) {
  const onclick = () => act().catch((error) => console.error(String(error)));
  Object.assign(document.getElementById(id), { hidden: !isShown, onclick });
}
// end

// example: request
async function who(client, address) {
  const access = await client.token.access(); // before every request; costs nothing while it is fresh
  if (access.outcome !== 'valid' && access.outcome !== 'stale') throw new Error(access.outcome);
  const headers = { Authorization: `${access.tokenType} ${access.accessToken}` };
  return (await (await fetch(address, { headers })).json()).name;
}
// end

// example: ready
document.addEventListener('deviceready', async () => {
  window.notes = await start(await (await fetch('configuration.json')).json());
});
// end
