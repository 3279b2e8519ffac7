// Code that the types allow, and code that they refuse; tsc --strict checks it.

import { Enroll, EnrollArgumentError, EnrollClient, EnrollError } from 'enrollkit';
import type { AccessToken, Configuration, EnrollEvent, HTTPRequest, HTTPResponse, SecretStore, State } from 'enrollkit';

const configuration: Configuration = { issuer: 'https://id.example', clientId: 'app', redirectUri: 'http://127.0.0.1/callback' };

declare const safe: SecretStore;
declare const send: (request: HTTPRequest) => Promise<HTTPResponse>;

export async function program(): Promise<void> {
  const enroll: Enroll = await Enroll.start({ logLevel: 'info', log: (level, text) => console.log(level.length, text) });
  const client: EnrollClient = await enroll.open({ configuration, store: '/home/me/.local/share/app', keys: { host: safe }, transport: send });
  await enroll.open({ configuration, store: new URL('file:///store'), keys: { provider: 'secret-service' }, renewInBackground: true });
  // @ts-expect-error: `store` is missing
  await enroll.open({ configuration });
  // @ts-expect-error: `store` is missing
  await enroll.accounts.list();
  // @ts-expect-error: there is no such level
  await Enroll.start({ logLevel: 'loud' });
  // @ts-expect-error: a daemon is started, not made
  new Enroll();

  const state: State = await client.signIn({ kind: 'signIn', options: { loginHint: 'a@example.com' } }, {
    signal: new AbortController().signal,
    present: (action) => (action.type === 'showDeviceCode' ? console.log(action.userCode) : undefined),
    confirm: async (profile) => profile['email'] === 'a@example.com',
  });
  if (state.state === 'awaitingConfirmation') console.log(state.profile['name']);

  const token: AccessToken = await client.accessToken({ minimumLifetime: 60 });
  const expiry: Date | undefined = token.expiresAt;
  console.log(expiry, token.authorization);
  // @ts-expect-error: a token cannot be made
  new (await import('enrollkit')).AccessToken();

  console.log((await client.fetch(new Request('https://api.example/'), { method: 'POST' })).status);

  const outcome = await client.token.access({}, { signal: new AbortController().signal });
  if (outcome.outcome === 'valid' || outcome.outcome === 'stale') console.log(outcome.accessToken.length);
  // @ts-expect-error: only with these two outcomes is there a token
  console.log(outcome.accessToken);

  client.on('token.renewed', (event) => console.log(event.expiresAt + 1)).once('logout.finished', () => {});
  // @ts-expect-error: there is no such event
  client.on('token.stolen', () => {});
  for await (const event of client.events()) {
    const one: EnrollEvent = event;
    if (one.name === 'registration.changed') console.log(one.state.state);
    break;
  }
  // @ts-expect-error: there is no such kind
  await client.registration.begin({ kind: 'magic' });
  // @ts-expect-error: a code is needed
  await client.registration.submitCode({ transaction: 't' });
  // @ts-expect-error: the client passes its own id
  await client.registration.state({ client: 'c1' });

  const answer: Response = await client.fetch('https://api.example/things', { method: 'POST', body: '{}' });
  console.log(answer.status, (await enroll.store.rekey({ store: '/s', newKeys: { provider: 'file' } })).provider);
  try {
    const { url } = await client.logOut();
    console.log(url);
  } catch (error) {
    if (error instanceof EnrollError && error.retryable) console.log(error.status === 'daemonEnded', error.blame, error.oauthError);
    if (error instanceof EnrollArgumentError) console.log(error.field, error.status === 'invalidArgument');
  }
  await client.close();
  await enroll[Symbol.asyncDispose]();
}
