package org.enrollkit

import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/** Passes the events of one client to all listeners; subscribes at the core only while there are listeners. */
internal class EventHub {
  private val listeners = CopyOnWriteArrayList<Channel<Event>>()
  private val changing = Mutex()

  suspend fun add(listener: Channel<Event>, port: Port) = changing.withLock {
    // The listener is added before the subscription at the core, so that it misses no event.
    listeners.add(listener)
    if (listeners.size == 1) {
      try {
        port.subscribe()
      } catch (fault: EnrollException) {
        listeners.remove(listener)
        throw fault
      }
    }
  }

  suspend fun remove(listener: Channel<Event>, port: Port) = changing.withLock {
    listeners.remove(listener)
    if (listeners.isEmpty()) {
      try {
        port.unsubscribe()
      } catch (_: EnrollException) {
        // The client is closed, and so its subscription has ended, too.
      }
    }
  }

  fun tell(event: Event) {
    // The channels are unlimited, so a slow listener does not delay other listeners.
    listeners.forEach { it.trySend(event) }
  }

  /** Ends the events: the client was closed, or failed with [cause]. */
  fun end(cause: Throwable?) {
    listeners.forEach { it.close(cause) }
  }
}
