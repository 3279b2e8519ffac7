package org.enrollkit.okhttp

import okhttp3.HttpUrl
import okhttp3.Response
import org.enrollkit.AccessToken

/**
 * One call with a token, and its rules: which requests get the token, and when a request that a server refused with 401 is
 * sent once more (RFC 6750 §3.1, RFC 9449 §9). It is attached to the call's requests as a tag, which OkHttp keeps
 * on a redirect.
 */
internal class Exchange(val owner: EnrollInterceptors, private val first: HttpUrl, var token: AccessToken) {
  /** The step that a request needs before it is sent once more. */
  enum class Step { NONCE, RENEWAL }

  /** The nonce that the server requires in the next proof. */
  var nonce: String? = null
    private set
  private var hasRenewed = false
  private var hasLeft = false
  private var isRefusable = false

  val needsProof: Boolean get() = token.type.equals("DPoP", ignoreCase = true)

  /**
   * Whether a request to this URL, which is about to be sent, gets the token. After a redirect to another origin, no
   * request gets it, not even one to the first origin.
   */
  fun admits(url: HttpUrl): Boolean {
    hasLeft = hasLeft || url.scheme() != first.scheme() || url.host() != first.host() || url.port() != first.port()
    isRefusable = !hasLeft
    return isRefusable
  }

  /** The step that a response requires; null if the caller gets the response. A 401 for a request without the token
   * requires none. */
  fun after(response: Response): Step? {
    if (response.code() != 401 || !isRefusable) return null
    isRefusable = false
    val required = response.header("DPoP-Nonce").orEmpty()
    if (needsProof && nonce == null && NONCE.matches(required) && "use_dpop_nonce" in response.header("WWW-Authenticate").orEmpty()) {
      nonce = required
      return Step.NONCE
    }
    if (hasRenewed) return null
    hasRenewed = true
    return Step.RENEWAL
  }

  private companion object {
    /** RFC 9449 §8.1. */
    val NONCE = Regex("""[\x21\x23-\x5b\x5d-\x7e]{1,1024}""")
  }
}
