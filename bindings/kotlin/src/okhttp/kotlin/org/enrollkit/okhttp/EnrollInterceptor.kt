package org.enrollkit.okhttp

import java.io.IOException
import java.lang.reflect.Method
import kotlinx.coroutines.runBlocking
import okhttp3.Interceptor
import okhttp3.Request
import okhttp3.RequestBody
import okhttp3.Response
import org.enrollkit.AuthorizedExchange
import org.enrollkit.EnrollClient
import org.enrollkit.EnrollException
import org.enrollkit.usable

/**
 * For OkHttp: each request gets a valid token, and a proof if the token is bound (DPoP).
 * ```
 * val http = OkHttpClient.Builder().addInterceptor(EnrollInterceptor(client)).build()
 * ```
 * A request that the server refuses with 401 is sent once more: with the nonce that the server requires (RFC 9449 §9), or
 * with a token that was renewed in the meantime. Calls that get 401 at the same time share one renewal. A one-shot body
 * (`RequestBody.isOneShot`) is not sent again: the caller gets the 401. The token goes to https or to a loopback address
 * only; after a redirect to another origin, that server gets no token and causes no renewal.
 *
 * Add it with `addInterceptor`, not with `addNetworkInterceptor`, which is called for each redirect. It blocks the thread of the
 * call while a token is renewed. A call fails with an [IOException], whose cause is the [EnrollException], if there is
 * no token.
 *
 * @param client a client that is signed in
 * @param resource the API for which the token is to be (RFC 8707); null: the session's own token
 * @param scope the scopes that the token is to have, of those that the user granted
 */
public class EnrollInterceptor(
  private val client: EnrollClient,
  private val resource: String? = null,
  private val scope: List<String>? = null,
) : Interceptor {
  /** Sends the request with the token. */
  override fun intercept(chain: Interceptor.Chain): Response {
    val first = chain.request()
    val exchange = try {
      AuthorizedExchange(first.url().uri(), runBlocking { client.accessToken(resource = resource, scope = scope) })
    } catch (fault: EnrollException) {
      throw IOException(fault.message, fault)
    }
    var response = chain.proceed(signed(first, exchange, null))
    while (true) {
      val request = response.request()
      val step = exchange.after(response.code(), { response.header(it) }, request.method(), request.url().uri())
      if (step == null || isOneShot(request.body()) || hasLeft(response, exchange)) return response
      val nonce = if (step == AuthorizedExchange.Step.NONCE) response.header("DPoP-Nonce") else null
      val again = try {
        if (step == AuthorizedExchange.Step.RENEWAL) renew(exchange)
        signed(request, exchange, nonce)
      } catch (_: EnrollException) {
        return response
      }
      response.close()
      response = chain.proceed(again)
    }
  }

  private fun renew(exchange: AuthorizedExchange) = runBlocking {
    exchange.token = client.token.rejected(exchange.token.value, resource = resource, scope = scope).usable()
  }

  private fun signed(request: Request, exchange: AuthorizedExchange, nonce: String?): Request {
    val signed = request.newBuilder().header("Authorization", exchange.token.authorization)
    if (exchange.needsProof) {
      val url = request.url().newBuilder().fragment(null).build()
      exchange.proves(request.method(), request.url().uri())
      val proof = runBlocking { client.dpop.proof(request.method(), url.toString(), nonce, exchange.token.value) }
      signed.header("DPoP", proof)
    }
    return signed.build()
  }

  /** Whether a redirect led to another origin: what comes after it gets no token, at the first origin neither. */
  private fun hasLeft(response: Response, exchange: AuthorizedExchange): Boolean =
    generateSequence(response) { it.priorResponse() }.any { !exchange.isAt(it.request().url().uri()) }

  /** OkHttp has the function since 3.14; with an older one, a body may have it all the same. */
  private fun isOneShot(body: RequestBody?): Boolean {
    if (body == null) return false
    val method = oneShot ?: body.javaClass.methods.find { it.name == "isOneShot" }?.apply { isAccessible = true }
    return method?.invoke(body) == true
  }

  private companion object {
    val oneShot: Method? = RequestBody::class.java.methods.find { it.name == "isOneShot" }
  }
}
