// Generated from the manifest of EnrollKit 0.1.0 by `make generate`; do not edit.

/** The version of the package, and of the enrolld in it. */
export const VERSION = '0.1.0';

/** The oldest interface that an enrolld may have: major × 65536 + minor. */
export const ABI = 1;

/** The commands of a client, by their group. */
export const CLIENT_COMMANDS = {
  platform: ['ready'],
  provider: ['check'],
  registration: [
    'state', 'begin', 'resume', 'handleLink', 'awaitOutcome', 'submitCode', 'confirm', 'retry', 'cancel',
    'otherAppMissing', 'clear', 'deregister',
  ],
  url: ['handle'],
  token: ['access', 'refresh', 'rejected', 'list', 'revoke', 'introspect'],
  dpop: ['proof'],
  identity: ['profile', 'userinfo'],
  logout: ['begin', 'resume'],
  account: ['read'],
  diagnostics: ['export'],
  pin: ['set', 'unlock', 'change', 'remove'],
};

/** The commands that need no client, by their group. */
export const COMMANDS = {
  system: ['describe'],
  resource: ['discover', 'register'],
  accounts: ['list', 'remove'],
  installation: ['reset'],
  store: ['diagnose', 'rekey'],
  pkce: ['generate'],
  redirect: ['parse', 'route'],
  link: ['parse'],
  expiry: ['check'],
};

export const EVENTS = [
  'registration.changed', 'registration.settled', 'token.renewed', 'token.renewalFailed', 'logout.finished',
  'error.reported',
];

/** The commands that take a timeout, with its default in seconds. */
export const TIMED = {
  'resource.discover': 30, 'resource.register': 30, 'provider.check': 30, 'registration.state': 30,
  'registration.begin': 30, 'registration.resume': 30, 'registration.handleLink': 30, 'registration.awaitOutcome': 30,
  'registration.submitCode': 30, 'registration.confirm': 30, 'registration.retry': 30, 'registration.deregister': 30,
  'url.handle': 30, 'token.access': 30, 'token.refresh': 30, 'token.rejected': 30, 'token.revoke': 30,
  'token.introspect': 30, 'identity.userinfo': 30, 'logout.begin': 30,
};

/** The commands that take a store. */
export const STORES = [
  'resource.register', 'client.open', 'accounts.list', 'accounts.remove', 'installation.reset', 'store.diagnose',
  'store.rekey',
];

/** The properties of each status. */
export const ERRORS = {
  invalidArgument: { code: -1, blame: 'caller', retryable: false },
  handle: { code: -2, blame: 'caller', retryable: false },
  reentrant: { code: -3, blame: 'caller', retryable: false },
  forked: { code: -4, blame: 'caller', retryable: false },
  bufferTooSmall: { code: -5, blame: 'caller', retryable: false },
  cancelled: { code: -6, blame: 'caller', retryable: false },
  deadlineExceeded: { code: -7, blame: 'caller', retryable: true },
  busy: { code: -8, blame: 'caller', retryable: true },
  unsupported: { code: -9, blame: 'caller', retryable: false },
  illegalState: { code: -10, blame: 'caller', retryable: false },
  notFound: { code: -11, blame: 'caller', retryable: false },
  outOfMemory: { code: -12, blame: 'internal', retryable: true },
  configuration: { code: -20, blame: 'host', retryable: false },
  redirectMalformed: { code: -21, blame: 'network', retryable: false },
  redirectMismatch: { code: -22, blame: 'network', retryable: false },
  unsolicited: { code: -23, blame: 'network', retryable: false },
  alreadySettled: { code: -24, blame: 'network', retryable: false },
  transactionExpired: { code: -25, blame: 'user', retryable: false },
  otherAppMissing: { code: -26, blame: 'user', retryable: false },
  activationFailed: { code: -27, blame: 'user', retryable: false },
  network: { code: -30, blame: 'network', retryable: true },
  tls: { code: -31, blame: 'server', retryable: false },
  timeout: { code: -32, blame: 'network', retryable: true },
  server: { code: -33, blame: 'server', retryable: true },
  responseInvalid: { code: -34, blame: 'server', retryable: false },
  oauth: { code: -35, blame: 'server', retryable: false },
  loginRequired: { code: -36, blame: 'user', retryable: false },
  interactionRequired: { code: -37, blame: 'user', retryable: false },
  consentRequired: { code: -38, blame: 'user', retryable: false },
  accessDenied: { code: -39, blame: 'user', retryable: false },
  issuerMismatch: { code: -40, blame: 'server', retryable: false },
  codeRejected: { code: -41, blame: 'user', retryable: false },
  keysUnavailable: { code: -50, blame: 'server', retryable: true },
  idTokenInvalid: { code: -51, blame: 'server', retryable: false },
  profileMismatch: { code: -52, blame: 'server', retryable: false },
  emailNotVerified: { code: -53, blame: 'user', retryable: true },
  unknownAccount: { code: -54, blame: 'user', retryable: false },
  reauthenticate: { code: -60, blame: 'user', retryable: false },
  rejected: { code: -61, blame: 'server', retryable: true },
  expired: { code: -62, blame: 'network', retryable: true },
  storeLocked: { code: -70, blame: 'host', retryable: true },
  storeCorrupt: { code: -71, blame: 'host', retryable: false },
  storeRefused: { code: -72, blame: 'host', retryable: false },
  storeIO: { code: -73, blame: 'host', retryable: true },
  storeFull: { code: -74, blame: 'host', retryable: true },
  storeKey: { code: -75, blame: 'host', retryable: false },
  storeVersion: { code: -76, blame: 'host', retryable: false },
  json: { code: -80, blame: 'caller', retryable: false },
  internal: { code: -99, blame: 'internal', retryable: false },
};
