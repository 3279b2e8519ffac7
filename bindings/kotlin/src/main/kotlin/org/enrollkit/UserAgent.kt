package org.enrollkit

/** The part of your app that opens the browser: an external browser, never a web view (RFC 8252 §8.12). */
public fun interface UserAgent {
  /**
   * Opens [url] in the external browser, and returns the URL with which the browser redirected to [redirectUri].
   * Returns null if the user left the browser. With a loopback redirect, which the core's listener receives, null
   * means only that the browser was opened. The call is cancelled once its result is no longer needed.
   */
  public suspend fun open(url: String, redirectUri: String): String?
}
