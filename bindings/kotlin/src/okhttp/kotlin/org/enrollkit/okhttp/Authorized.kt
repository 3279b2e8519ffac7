@file:JvmName("EnrollOkHttp")

package org.enrollkit.okhttp

import okhttp3.OkHttpClient
import org.enrollkit.EnrollClient
import org.enrollkit.EnrollException
import org.enrollkit.Status

/**
 * Each request of this OkHttp client gets a valid token, and a proof if the token is bound (DPoP).
 * ```
 * val http = OkHttpClient.Builder().authorized(client).build()
 * ```
 * A request that the server rejects with 401 is sent once more: with the nonce that the server requires (RFC 9449 §9),
 * or with a token that was renewed in the meantime. Calls that get 401 at the same time share one renewal. A one-shot
 * body (`RequestBody.isOneShot`) is not sent again: the caller gets the 401.
 *
 * The token goes to https, or to http at a loopback address without a proxy. A redirect within the origin of the call gets
 * the token and its own proof. After a redirect to another origin no request of the call gets a token or a proof, and none
 * causes a renewal. A WebSocket gets no token, because OkHttp calls no network interceptors for it.
 *
 * While a token is renewed, the thread of the call waits. `callTimeout` and `Call.cancel` end that wait; the renewal continues.
 * A call fails with an [java.io.IOException], whose cause is the [EnrollException], if there is no token. For a closed client
 * the status is [Status.HANDLE]; for a URL that must not get a token it is [Status.INVALID_ARGUMENT].
 *
 * @param client a client that is signed in
 * @param resource the API that the token is for (RFC 8707); null: the session's own token
 * @param scope the scopes that the token should have, out of those that the user granted
 * @return this builder
 */
@JvmOverloads
public fun OkHttpClient.Builder.authorized(
  client: EnrollClient,
  resource: String? = null,
  scope: List<String>? = null,
): OkHttpClient.Builder {
  val interceptors = EnrollInterceptors(client, resource, scope)
  return addInterceptor(interceptors::call).addNetworkInterceptor(interceptors::request)
}
