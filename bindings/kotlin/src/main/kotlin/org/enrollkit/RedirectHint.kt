package org.enrollkit

import java.net.URLDecoder
import java.util.logging.Logger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay

/** Logs once what to check if no redirect arrives: a provider that shows its own error page sends no redirect. */
internal class RedirectHint(private val log: EnrollLog?) {
  /** How long to wait for the redirect before the hint is logged; `enroll login` waits for the same time. */
  var limit: Duration = 30.seconds

  suspend fun hint(url: String, redirectUri: String) {
    delay(limit)
    val named = Regex("[?&]client_id=([^&#]*)").find(url)?.groupValues?.get(1)
    val clientId = named?.let { URLDecoder.decode(it, "UTF-8") } ?: "?"
    val words = "signIn still waits for the browser. If it shows an error page, compare client id and redirect URI with those " +
      "registered at the provider, the port included if the provider compares ports; client id: $clientId, redirect URI: $redirectUri"
    if (log != null) log.tell(words) else Logger.getLogger("org.enrollkit").warning(words)
  }
}
