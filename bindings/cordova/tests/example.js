async function start(configuration) {
  const client = await enroll.open({ configuration, renewInBackground: true });
  client.subscribe('registration.changed', ({ state }) => console.log(state.state));

  let { state } = await client.registration.state({ wait: true });
  if (state.state === 'unregistered') {
    state = await client.signIn(); // opens the browser; the redirect finds its way back by itself
  }
  if (state.state === 'awaitingConfirmation') {
    console.log(`Hello, ${state.profile.name}; is this you?`);
    await client.registration.confirm();
  }
  return client;
}

async function fetchOrders(client, url) {
  const access = await client.token.access(); // before every request; costs nothing while it is fresh
  if (access.outcome !== 'valid' && access.outcome !== 'stale') throw new Error(access.outcome);
  return fetch(url, { headers: { Authorization: `${access.tokenType} ${access.accessToken}` } });
}
