package org.enrollkit

/** The browser step: an external browser, never a web view (RFC 8252 §8.12). */
public fun interface UserAgent {
  /**
   * Opens [url] in the external browser, and returns the URL with which the browser redirected to [redirectUri]. null
   * means that the user left the browser or, with a loopback redirect, which the core's listener receives, that the
   * browser was opened. It is cancelled once its result is no longer needed.
   */
  public suspend fun open(url: String, redirectUri: String): String?
}
