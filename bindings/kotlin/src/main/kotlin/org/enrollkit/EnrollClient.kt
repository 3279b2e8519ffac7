package org.enrollkit

import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
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
 * Every command of the manifest is here by its two words: `registration.begin`, `token.access`. Every function may be
 * called from any coroutine at any time. A coroutine that is cancelled ends its wait; what was sent to a provider is not
 * unsent, and a renewal is stored. Commands of a closed client fail with [Status.HANDLE], those that were waiting in it
 * with [Status.CANCELLED].
 */
public class EnrollClient internal constructor(
  private val caller: Caller,
  private val port: Port,
  private val hub: EventHub,
) : ClientCommands(caller), AutoCloseable {
  /** What happens to this client from the moment of collecting on, in its order; ends when the client is closed. */
  public val events: Flow<Event> = flow {
    listening { channel -> for (event in channel) emit(event) }
  }

  /** Where the registration stands, and from then on every other state; ends when the client is closed. */
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
   * An access token that works: the call before every request. A fresh one comes from memory; one that is due is
   * renewed first, once for all who ask at the same time.
   *
   * @param minimumLifetime how long it must still live; zero leaves that to the configured grace
   * @param timeout how long a renewal is waited for; it goes on afterwards
   * @throws EnrollException [Status.REAUTHENTICATE]: sign in; [Status.EXPIRED]: no network, try later;
   *   [Status.REJECTED], [Status.BUSY], [Status.STORE_LOCKED] and the other statuses of stores
   */
  public suspend fun accessToken(
    minimumLifetime: Duration = Duration.ZERO,
    timeout: Duration = 30.seconds,
  ): AccessToken {
    caller.quickToken(minimumLifetime)?.let { return it }
    return token.access(minimumLifetime, timeout).usable()
  }

  /**
   * The whole browser step: begins a transaction, has [userAgent] open its URL, and takes the redirect back. A user who
   * leaves the browser has cancelled: the state tells.
   *
   * On a desktop, with a loopback redirect:
   * ```
   * val state = client.signIn(DesktopBrowser())
   * ```
   * With a [UserAgent] of your own, which gives back the URL that reached the app:
   * ```
   * val state = client.signIn { url, redirectUri ->
   *   show(url)
   *   links.first { it.startsWith(redirectUri) }
   * }
   * ```
   *
   * @param kind what kind of transaction; one whose action is not to open a URL is [Status.UNSUPPORTED]
   * @param options how to begin
   * @param timeout how long the user may take, with a loopback redirect
   */
  public suspend fun signIn(
    userAgent: UserAgent,
    kind: TransactionKind = TransactionKind.SIGN_IN,
    options: BeginOptions? = null,
    timeout: Duration = 10.minutes,
  ): State {
    val transaction = registration.begin(kind = kind, options = options)
    val action = transaction.action as? Action.OpenURL
    val redirectUri = transaction.redirectUri
    if (action == null || redirectUri == null) {
      throw EnrollException(Status.UNSUPPORTED, "signIn opens URLs, and ${kind.wire} asks for something else: $transaction")
    }
    if (transaction.survivesProcess) {
      return when (val answer = userAgent.open(action.url, redirectUri)) {
        null -> registration.cancel(transaction.id)
        else -> registration.resume(answer)
      }
    }
    return coroutineScope {
      val browser = launch { userAgent.open(action.url, redirectUri) }
      registration.awaitOutcome(transaction.id, timeout).also { browser.cancel() }
    }
  }

  /**
   * Closes the client. Calls that wait in it end with [Status.CANCELLED]. Blocks until a renewal that was sent is stored,
   * 30 seconds at most: [closeAndJoin] does that without a thread of yours. Tokens stay in the store. Closing twice does
   * nothing.
   */
  override fun close() {
    caller.close()
  }

  /** As [close], for coroutines. */
  public suspend fun closeAndJoin() {
    withContext(NonCancellable + Dispatchers.IO) { caller.close() }
  }
}
