package org.enrollkit

/** The browser step: an external browser, never a web view (RFC 8252 §8.12). */
public fun interface UserAgent {
  /**
   * Opens [url] in the external browser, and gives the URL by which the browser came back to [redirectUri]. null: the
   * user left the browser; or, with a loopback redirect, which comes back to a listener of the core's, the browser was
   * opened. Is cancelled once its answer is not waited for any more.
   */
  public suspend fun open(url: String, redirectUri: String): String?
}
