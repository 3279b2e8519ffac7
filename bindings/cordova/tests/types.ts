// Code that the types allow, and code that they refuse; tsc --strict checks it.

async function program(): Promise<void> {
  const client: EnrollClient = await enroll.open({ configuration: { issuer: 'https://id.example', clientId: 'app' } });
  const state: State = await client.signIn({ kind: 'register', options: { loginHint: 'a@example.com' } });
  if (state.state === 'awaitingConfirmation') console.log(state.profile['name']);
  if (state.state === 'failed' && state.reason === 'renewal') console.log(state.remedy, state.error.httpStatus);

  const access = await client.token.access({ minimumLifetime: 60 }, { signal: new AbortController().signal });
  if (access.outcome === 'valid' || access.outcome === 'stale') await send(access.accessToken);
  // @ts-expect-error: only with these two outcomes is there a token
  await send(access.accessToken);

  const stop: () => void = client.subscribe('token.renewed', (event) => console.log(event.expiresAt + 1));
  stop();
  client.subscribe((event) => {
    if (event.name === 'registration.changed') console.log(event.state.state);
  });
  // @ts-expect-error: there is no such event
  client.subscribe('token.stolen', () => {});
  // @ts-expect-error: there is no such kind
  await client.registration.begin({ kind: 'magic' });
  // @ts-expect-error: a code is needed
  await client.registration.submitCode({ transaction: 't' });
  // @ts-expect-error: a page cannot choose the key provider
  await enroll.accounts.list({ keys: { provider: 'file' } });

  try {
    await client.logOut();
  } catch (error) {
    if (error instanceof enroll.EnrollError && error.retryable) console.log(error.status, error.blame, error.oauthError);
  }
  await client.close();
}

declare function send(token: string): Promise<void>;
import type { EnrollClient, State } from '../www/enroll';
export { program };
