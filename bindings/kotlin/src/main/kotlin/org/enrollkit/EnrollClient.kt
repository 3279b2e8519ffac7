package org.enrollkit

import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.distinctUntilChanged
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

/**
 * One account at one provider, opened with [Enroll.open].
 *
 * Every command of the manifest is a member, named by its two words: `registration.begin`, `token.access`. You may call
 * every function from any coroutine at any time. Cancelling a coroutine ends its call; a renewal that was sent to the
 * provider continues, and its tokens are stored. Commands of a closed client fail with [Status.HANDLE]; calls that wait
 * when the client is closed fail with [Status.CANCELLED].
 */
public class EnrollClient internal constructor(
  private val caller: Caller,
  private val port: Port,
  private val hub: EventHub,
  log: EnrollLog?,
) : ClientCommands(caller), AutoCloseable {
  internal val redirectHint = RedirectHint(log)

  /** The events of this client in order, beginning when the flow is collected. The flow ends when the
   *  client is closed. */
  public val events: Flow<Event> = flow {
    listening { channel -> for (event in channel) emit(event) }
  }

  /** The current state of the registration, then every later state. The flow ends when the client is closed. */
  public val states: Flow<State> = flow {
    listening { channel ->
      emit(registration.state())
      for (event in channel) if (event is Event.RegistrationChanged) emit(event.state)
    }
  }.distinctUntilChanged()

  private suspend fun listening(body: suspend (Channel<Event>) -> Unit) {
    val channel = Channel<Event>(Channel.UNLIMITED)
    hub.add(channel, port)
    try {
      body(channel)
    } finally {
      withContext(NonCancellable) { hub.remove(channel, port) }
    }
  }

  /**
   * A valid access token: call this before every request. A fresh token comes from memory; a token that is due is
   * renewed first, once for all concurrent calls.
   *
   * @param minimumLifetime how long the token must remain valid, but at most nine tenths of its whole lifetime; zero
   *   means the configured grace period
   * @param timeout how long to wait for a renewal; the renewal continues afterwards
   * @param resource the resource server that the token is for (RFC 8707); null, with no [scope]: the session's own
   *   token
   * @param scope the scopes that the token should have, out of those that the user granted
   * @throws EnrollException [Status.REAUTHENTICATE]: sign in again; [Status.EXPIRED]: the renewal failed, retry later;
   *   [Status.REJECTED], [Status.BUSY], [Status.STORE_LOCKED], other errors of the store
   */
  public suspend fun accessToken(
    minimumLifetime: Duration = Duration.ZERO,
    timeout: Duration = 30.seconds,
    resource: String? = null,
    scope: List<String>? = null,
  ): AccessToken {
    if (resource == null && scope == null) caller.quickToken(minimumLifetime)?.let { return it }
    return token.access(minimumLifetime = minimumLifetime, timeout = timeout, resource = resource, scope = scope).usable()
  }

  /**
   * Renews the token now, whatever its age, and returns the token that works afterwards. Sends nothing during a pause that
   * the provider requested.
   *
   * @param resource as in [accessToken]
   * @param scope as in [accessToken]
   * @throws EnrollException as [accessToken] does
   */
  public suspend fun refresh(
    timeout: Duration = 30.seconds,
    resource: String? = null,
    scope: List<String>? = null,
  ): AccessToken = token.refresh(timeout = timeout, resource = resource, scope = scope).usable()

  /**
   * The whole browser step: begins a transaction, opens its URL with [userAgent], and receives the redirect. If the
   * user leaves the browser, the sign-in is cancelled, and the returned state says so. If an earlier sign-in waits for the
   * user's confirmation, no browser opens, and that state is returned: ask, then confirm its transaction.
   *
   * With a loopback redirect, the sign-in is also cancelled if this coroutine is cancelled or if [userAgent] fails. If
   * the browser does not return within 30 seconds, a line in the log says what may be wrong. The log is the
   * [EnrollLog] or, without one, the logger `org.enrollkit` of `java.util.logging`.
   *
   * On a desktop, with a loopback redirect:
   * ```
   * val state = client.signIn(DesktopBrowser())
   * ```
   *
   * @param kind the kind of transaction; [Status.UNSUPPORTED] if its action is not to open a URL
   * @param options how to begin
   * @param timeout how long the user may take, with a loopback redirect
   */
  public suspend fun signIn(
    userAgent: UserAgent,
    kind: TransactionKind = TransactionKind.SIGN_IN,
    options: BeginOptions? = null,
    timeout: Duration = 10.minutes,
  ): State {
    val transaction = try {
      registration.begin(kind = kind, options = options)
    } catch (fault: EnrollException) {
      if (fault.status != Status.ILLEGAL_STATE) throw fault
      return registration.state() as? State.AwaitingConfirmation ?: throw fault
    }
    val action = transaction.action as? Action.OpenURL
    val redirectUri = transaction.redirectUri
    if (action == null || redirectUri == null) {
      leave(transaction)
      throw EnrollException(Status.UNSUPPORTED, "signIn can only open URLs, and ${kind.wire} needs another action: $transaction")
    }
    if (transaction.survivesProcess) {
      return when (val answer = userAgent.open(action.url, redirectUri)) {
        null -> registration.cancel(transaction.id)
        else -> registration.resume(answer)
      }
    }
    try {
      return coroutineScope {
        launch { userAgent.open(action.url, redirectUri) }
        launch { redirectHint.hint(action.url, redirectUri) }
        registration.awaitOutcome(transaction.id, timeout).also { coroutineContext.cancelChildren() }
      }
    } catch (fault: Throwable) {
      if ((fault as? EnrollException)?.status != Status.DEADLINE_EXCEEDED) leave(transaction)
      throw fault
    }
  }

  /** Cancels a transaction after a failure. This only reports to the core that nobody waits any more: if the report
   * fails, nothing is lost. */
  private suspend fun leave(transaction: Transaction) {
    withContext(NonCancellable) {
      try {
        registration.cancel(transaction.id)
      } catch (_: EnrollException) {
      }
    }
  }

  /**
   * Like [signIn] with a [UserAgent], but with a lambda. The lambda shows [the URL][UserAgent.open], and returns the
   * URL that reached the app:
   * ```
   * val state = client.signIn { url, redirectUri ->
   *   show(url)
   *   links.first { it.startsWith(redirectUri) }
   * }
   * ```
   * With a loopback redirect the lambda returns null, since the core's listener receives the redirect:
   * ```
   * val state = client.signIn { url, _ -> println("Open this in your browser: $url"); null }
   * ```
   *
   * @param kind the kind of transaction; [Status.UNSUPPORTED] if its action is not to open a URL
   * @param options how to begin
   * @param timeout how long the user may take, with a loopback redirect
   * @param open the lambda; it does what [UserAgent.open] does
   */
  public suspend fun signIn(
    kind: TransactionKind = TransactionKind.SIGN_IN,
    options: BeginOptions? = null,
    timeout: Duration = 10.minutes,
    open: suspend (url: String, redirectUri: String) -> String?,
  ): State = signIn(UserAgent { url, redirectUri -> open(url, redirectUri) }, kind, options, timeout)

  /**
   * Closes the client. Calls that wait in it fail with [Status.CANCELLED]. Blocks until a renewal that was sent is
   * stored, 30 seconds at most; [closeAndJoin] suspends instead. Tokens stay in the store. A second call does nothing.
   */
  override fun close() {
    caller.close()
  }

  /** Like [close], for coroutines. */
  public suspend fun closeAndJoin() {
    withContext(NonCancellable + Dispatchers.IO) { caller.close() }
  }
}
