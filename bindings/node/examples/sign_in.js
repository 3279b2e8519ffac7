// Signs in, prints what is needed, signs out:  node sign_in.js ISSUER STORE

import { Enroll, EnrollError } from 'enrollkit';

const [issuer, store] = process.argv.slice(2);
if (!store) {
  console.error('usage: sign_in.js ISSUER STORE');
  process.exit(2);
}

const configuration = {
  issuer,
  clientId: 'sample-app',
  redirectUri: 'http://127.0.0.1/callback',
  scopes: 'openid profile email offline_access',
  allowLoopbackHTTP: true, // only for a provider on this machine
};

try {
  const enroll = await Enroll.start();
  const client = await enroll.open({ configuration, store });

  await client.signIn({}, {
    // Without `present`, signIn opens the system's browser. The daemon receives the redirect at a port of this machine.
    present: (action) => action.type === 'openURL' && console.log(`Open this in your browser: ${action.url}`),
    confirm: (profile) => {
      console.log(`Hello, ${profile.name ?? 'somebody'}; is this you?`);
      return true;
    },
  });

  const token = await client.accessToken(); // before every request; costs little while it is fresh
  console.log(`A valid token of ${token.value.length} bytes.`);

  await client.logOut({}, { present: ({ url }) => console.log(`To end the browser's session, open: ${url}`) });
  await enroll.close();
} catch (error) {
  if (!(error instanceof EnrollError)) throw error;
  console.error(`sign_in.js: ${error.message}`);
  process.exitCode = 1;
}
