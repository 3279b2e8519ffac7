package org.enrollkit

import java.net.URLDecoder
import java.util.logging.Logger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay

/** Says once what to look at while the browser does not come back: a provider that shows its own error page sends no redirect. */
internal class LongWait(private val log: EnrollLog?) {
  /** Without the browser; as long as in `enroll login`. */
  var limit: Duration = 30.seconds

  suspend fun hint(url: String, redirectUri: String) {
    delay(limit)
    val named = Regex("[?&]client_id=([^&#]*)").find(url)?.groupValues?.get(1)
    val clientId = named?.let { URLDecoder.decode(it, "UTF-8") } ?: "?"
    val words = "signIn still waits for the browser. If it shows an error page, compare client id and redirect URI with those " +
      "registered at the provider; client id: $clientId, redirect URI: $redirectUri"
    if (log != null) log.tell(words) else Logger.getLogger("org.enrollkit").warning(words)
  }
}
