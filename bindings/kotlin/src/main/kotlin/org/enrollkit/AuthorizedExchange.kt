package org.enrollkit

import java.net.InetAddress
import java.net.URI

/**
 * The rules of a request that carries a token: which servers get the token, and when a request that a server refused with
 * 401 is sent once more (RFC 6750 §3.1, RFC 9449 §9). A token goes to https and to a loopback address alone, and stays at
 * the origin of the first URL.
 *
 * @throws EnrollException [Status.INVALID_ARGUMENT]: a token must not be sent to [url].
 */
internal class AuthorizedExchange(url: URI, token: AccessToken) {
  /** What a request needs before it is sent once more. */
  enum class Step {
    /** A proof for the URL to which the server redirected. */
    PROOF,

    /** A proof with the nonce that the server requires. */
    NONCE,

    /** Another token. */
    RENEWAL,
  }

  private val origin = originOf(url)

  /** The token that the next request carries. */
  var token: AccessToken = token
  private var proved: String? = null
  private var hasNonce = false
  private var hasRenewed = false

  val needsProof: Boolean get() = token.type.equals("DPoP", ignoreCase = true)

  /** Whether the URL belongs to the origin that gets the token. */
  fun isAt(url: URI): Boolean = origin == try {
    originOf(url)
  } catch (_: EnrollException) {
    null
  }

  /** The next proof is about this request. */
  fun proves(method: String, url: URI) {
    proved = "$method $url"
  }

  /** The step after an answer; null: the answer is the caller's. */
  fun after(status: Int, header: (String) -> String?, method: String, url: URI): Step? {
    if (status != 401 || !isAt(url)) return null
    if (needsProof) {
      if (proved != "$method $url") return Step.PROOF
      val challenge = header("WWW-Authenticate").orEmpty()
      if (!hasNonce && header("DPoP-Nonce") != null && "use_dpop_nonce" in challenge) {
        hasNonce = true
        return Step.NONCE
      }
    }
    if (hasRenewed) return null
    hasRenewed = true
    return Step.RENEWAL
  }

  private companion object {
    /** Scheme, host and port (RFC 6454 §4). */
    fun originOf(url: URI): Triple<String, String, Int> {
      val (scheme, host) = url.scheme.orEmpty().lowercase() to url.host.orEmpty().lowercase()
      if (host.isEmpty() || !(scheme == "https" || scheme == "http" && isLoopback(host))) {
        throw EnrollException(
          localError(
            Status.INVALID_ARGUMENT,
            "url: expected https, or http to a loopback address, got $scheme://$host; a token is not sent there",
            "url",
          ),
        )
      }
      return Triple(scheme, host, if (url.port != -1) url.port else if (scheme == "https") 443 else 80)
    }

    /** By the text of an address: no name is looked up. */
    fun isLoopback(host: String): Boolean =
      host == "localhost" || Regex("""[0-9.]+|\[[0-9a-f:.]+]""").matches(host) && InetAddress.getByName(host).isLoopbackAddress
  }
}
