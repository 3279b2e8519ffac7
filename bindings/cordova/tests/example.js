async function start(configuration) {
  const client = await enroll.open({ configuration, renewInBackground: true });
  client.subscribe('registration.changed', ({ state }) => show(client, state));
  // Without `wait`: that would wait for a user who left the browser before the app was ended, and may never come back.
  show(client, (await client.registration.state()).state);
  return client;
}

function show(client, { state, step, transaction, profile }) {
  const isInBrowser = state === 'authenticating' && step === 'browser'; // of this start, or of one before
  button('sign-in', state === 'unregistered' || isInBrowser, () => client.signIn()); // the redirect comes back by itself
  button('yes', state === 'awaitingConfirmation', () => client.registration.confirm({ transaction }));
  if (profile) document.getElementById('yes').textContent = `Yes, I am ${profile.name || 'this person'}`;
}

function button(id, isShown, act) {
  const onclick = () => act().catch((error) => console.error(String(error)));
  Object.assign(document.getElementById(id), { hidden: !isShown, onclick });
}

async function fetchOrders(client, url) {
  const access = await client.token.access(); // before every request; costs nothing while it is fresh
  if (access.outcome !== 'valid' && access.outcome !== 'stale') throw new Error(access.outcome);
  return fetch(url, { headers: { Authorization: `${access.tokenType} ${access.accessToken}` } });
}
