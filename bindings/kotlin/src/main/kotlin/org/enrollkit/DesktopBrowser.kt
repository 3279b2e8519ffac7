package org.enrollkit

import java.io.File
import java.io.IOException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runInterruptible

/**
 * The browser of a desktop: the programs in the environment variable `BROWSER`, else `xdg-open`, else the program that
 * opens URLs on macOS or Windows. It supports only loopback redirects (`http://127.0.0.1/callback`), which the core's
 * listener receives. If the wait for the browser is cancelled, the browser continues.
 *
 * [open] throws an [EnrollException] with [Status.UNSUPPORTED] if there is no desktop or no program that opens URLs, if that
 * program fails, or for another kind of redirect. In these cases show the URL to the user: `client.registration.begin()`
 * returns it, and `client.registration.awaitOutcome()` waits for the redirect.
 */
public class DesktopBrowser internal constructor(
  private val environment: Map<String, String>,
  private val system: String,
) : UserAgent {
  public constructor() : this(System.getenv(), System.getProperty("os.name"))

  override suspend fun open(url: String, redirectUri: String): String? {
    if (!Regex("""http://(127\.0\.0\.1|\[::1]|localhost)[:/].*""").matches(redirectUri)) {
      throw unsupported("expected a loopback redirect such as http://127.0.0.1/callback, got $redirectUri")
    }
    val (program, browser) = start(url)
    val status = runInterruptible(Dispatchers.IO) { browser.waitFor() }
    if (status != 0) throw unsupported("$program failed with status $status")
    return null
  }

  private fun start(url: String): Pair<String, Process> {
    for (words in commands()) {
      val holdsUrl = words.any { "%s" in it }
      val command = if (holdsUrl) words.map { it.replace("%s", url) } else words + url
      try {
        val browser = ProcessBuilder(command)
          .redirectInput(ProcessBuilder.Redirect.from(File(nowhere)))
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start()
        return words[0] to browser
      } catch (_: IOException) {
        continue // Tries the next program.
      }
    }
    throw unsupported("none of these could be started: ${commands().joinToString { it[0] }}")
  }

  /** Programs with their arguments, tried in this order. */
  private fun commands(): List<List<String>> {
    val named = environment["BROWSER"].orEmpty().split(':').map { it.split(' ').filter(String::isNotEmpty) }
    val given = named.filter { it.isNotEmpty() }
    return when {
      given.isNotEmpty() -> given
      system.startsWith("Mac") -> listOf(listOf("open"))
      isWindows -> listOf(listOf("rundll32", "url.dll,FileProtocolHandler"))
      "DISPLAY" in environment || "WAYLAND_DISPLAY" in environment -> listOf(listOf("xdg-open"))
      else -> throw unsupported("there is no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set")
    }
  }

  private val isWindows get() = system.startsWith("Windows")
  private val nowhere get() = if (isWindows) "NUL" else "/dev/null"

  private fun unsupported(why: String) =
    EnrollException(Status.UNSUPPORTED, "$why. Show the URL from registration.begin to the user")
}
