// Unbuilt: this was written without an Android SDK.

package org.enrollkit.cordova

/** The newest URLs that reached the app and that the page has not taken yet; they also survive a reload of the page. */
internal class HeldUrls {
  data class Held(val id: Int, val url: String)

  private val urls = ArrayDeque<Held>()
  private var last = 0

  @Synchronized
  fun add(url: String): Held {
    val held = Held(++last, url)
    urls.addLast(held)
    while (urls.size > LIMIT) urls.removeFirst()
    return held
  }

  @Synchronized
  fun taken(id: Int) {
    urls.removeAll { it.id == id }
  }

  @Synchronized
  fun all(): List<Held> = urls.toList()

  private companion object {
    const val LIMIT = 4
  }
}
