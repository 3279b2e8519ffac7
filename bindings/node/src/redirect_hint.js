// A warning if no redirect arrives: a provider that shows its own error page sends no redirect.

/** After this many milliseconds without a redirect, `signIn` warns once, as `enroll login` does. */
export const REDIRECT_HINT_DELAY = 30_000;

/** Emits a process warning (`process.on('warning', ...)`, or standard error). Does nothing for an action
 * without a URL. */
export function warnOfMissingRedirect(action, redirectUri) {
  if (action.type !== 'openURL') return;
  const clientId = new URL(action.url).searchParams.get('client_id') ?? '?';
  process.emitWarning(
    'signIn still waits for the browser. If it shows an error page, compare client id and redirect URI with those ' +
      'registered at the provider, the port included if the provider compares ports; ' +
      `client id: ${clientId}, redirect URI: ${redirectUri}`,
    { type: 'EnrollWarning', code: 'ENROLL_LONG_WAIT' },
  );
}
