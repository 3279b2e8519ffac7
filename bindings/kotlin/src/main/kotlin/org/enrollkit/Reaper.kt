// Does the work of java.lang.ref.Cleaner, which Android has only since API 33: closes objects that are unreachable.

package org.enrollkit

import java.lang.ref.PhantomReference
import java.lang.ref.ReferenceQueue
import java.util.concurrent.ConcurrentHashMap
import kotlin.concurrent.thread

internal object Reaper {
  private val queue = ReferenceQueue<Any>()
  private val watched = ConcurrentHashMap.newKeySet<Watch>()

  init {
    thread(isDaemon = true, name = "enroll-reaper") {
      while (true) (queue.remove() as Watch).run()
    }
  }

  /** Runs [action] once after [owner] has become unreachable. [action] must not reach [owner]. */
  fun watch(owner: Any, action: () -> Unit): Watch = Watch(owner, action).also { watched.add(it) }

  class Watch(owner: Any, private val action: () -> Unit) : PhantomReference<Any>(owner, queue) {
    /** Ends the watch, because the owner was closed and nothing is left to do. */
    fun end() {
      clear()
      watched.remove(this)
    }

    fun run() {
      watched.remove(this)
      try {
        action()
      } catch (_: Exception) {
      }
    }
  }
}
