package org.enrollkit.okhttp

import java.io.IOException
import java.io.InterruptedIOException
import java.lang.reflect.Method
import java.net.Proxy
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import okhttp3.Call
import okhttp3.HttpUrl
import okhttp3.Interceptor
import okhttp3.RequestBody
import okhttp3.Response
import org.enrollkit.EnrollClient
import org.enrollkit.EnrollException
import org.enrollkit.Status
import org.enrollkit.usable

/**
 * Two interceptors. The application interceptor gets the token, once for each call, and sees no redirect. The network
 * interceptor sees every request on its way to a server: it alone writes the headers, so no header follows a redirect.
 */
internal class EnrollInterceptors(
  private val client: EnrollClient,
  private val resource: String?,
  private val scope: List<String>?,
) {
  /** The application interceptor. */
  fun call(chain: Interceptor.Chain): Response {
    val url = chain.request().url()
    if (!url.isHttps && !isLoopback(url)) throw refusal("expected https, or http to a loopback address, got http to ${url.host()}")
    val exchange = Exchange(this, url, waited(chain.call()) { client.accessToken(resource = resource, scope = scope) })
    var response = chain.proceed(chain.request().newBuilder().tag(Exchange::class.java, exchange).build())
    while (true) {
      val step = exchange.after(response)
      if (step == null || isOneShot(response.request().body())) return response
      if (step == Exchange.Step.RENEWAL && !hasRenewed(exchange, response, chain.call())) return response
      response.close()
      response = chain.proceed(response.request())
    }
  }

  private fun hasRenewed(exchange: Exchange, response: Response, call: Call): Boolean = try {
    exchange.token = waited(call) { client.token.rejected(exchange.token.value, resource = resource, scope = scope).usable() }
    true
  } catch (fault: IOException) {
    if (fault.cause !is EnrollException) {
      response.close()
      throw fault
    }
    false
  }

  /** The network interceptor. */
  fun request(chain: Interceptor.Chain): Response {
    val request = chain.request()
    val exchange = request.tag(Exchange::class.java)
    if (exchange == null || exchange.owner !== this) return chain.proceed(request)
    val signed = request.newBuilder().removeHeader("DPoP")
    if (!exchange.admits(request.url())) return chain.proceed(signed.removeHeader("Authorization").build())
    refuseStrangers(chain)
    signed.header("Authorization", exchange.token.authorization)
    if (exchange.needsProof) {
      // The URL without the parts that OkHttp sends to no server, and without the query, which is no part of `htu`
      // (RFC 9449 §4.2).
      val target = request.url().newBuilder().username("").password("").query(null).fragment(null).build()
      signed.header("DPoP", waited(chain.call()) { client.dpop.proof(request.method(), target.toString(), exchange.nonce, exchange.token.value) })
    }
    return chain.proceed(signed.build())
  }

  /** Refuses a request without encryption that leaves this machine: anybody on its way could read the token. */
  private fun refuseStrangers(chain: Interceptor.Chain) {
    val url = chain.request().url()
    val route = chain.connection()?.route()
    if (url.isHttps || route == null) return
    if (route.proxy().type() != Proxy.Type.DIRECT) {
      throw refusal(
        "expected no proxy for http to a loopback address, got one, which could read the token; exclude ${url.host()} from it " +
          "(http.nonProxyHosts, or the client's ProxySelector), or use OkHttpClient.Builder.proxy(Proxy.NO_PROXY)",
      )
    }
    if (route.socketAddress().address?.isLoopbackAddress != true) {
      throw refusal("expected http to a loopback address, but ${url.host()} is the name of another machine")
    }
  }

  private fun refusal(text: String): IOException =
    EnrollException(Status.INVALID_ARGUMENT, "url: $text; a token is not sent there", "url").let { IOException(it.message, it) }

  /** Decides by the address as text: no name is looked up. */
  private fun isLoopback(url: HttpUrl): Boolean = LOOPBACK.matches(url.host())

  /** Blocks the thread of a call until `body` or the call has ended: neither `cancel` nor `callTimeout`
   * interrupts a thread. */
  private fun <T> waited(call: Call, body: suspend () -> T): T = try {
    runBlocking {
      val watch = launch {
        while (!call.isCanceled) delay(POLL_MILLIS)
        throw IOException("Canceled")
      }
      try {
        body()
      } finally {
        watch.cancel()
      }
    }
  } catch (fault: EnrollException) {
    throw IOException(fault.message, fault)
  } catch (_: InterruptedException) {
    Thread.currentThread().interrupt()
    throw InterruptedIOException("interrupted")
  }

  /** OkHttp has this function since 3.14. With an older version, a body may have the function anyway. */
  private fun isOneShot(body: RequestBody?): Boolean {
    if (body == null) return false
    val method = oneShot ?: body.javaClass.methods.find { it.name == "isOneShot" }?.apply { isAccessible = true }
    return method?.invoke(body) == true
  }

  private companion object {
    const val POLL_MILLIS = 50L
    val LOOPBACK = Regex("""localhost|127(\.\d{1,3}){3}|::1""")
    val oneShot: Method? = RequestBody::class.java.methods.find { it.name == "isOneShot" }
  }
}
