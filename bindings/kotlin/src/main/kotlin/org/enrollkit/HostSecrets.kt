package org.enrollkit

import java.util.concurrent.ConcurrentHashMap

/** A host's secret store, as a core calls it: exceptions of the host's code become statuses and are logged. */
internal class HostSecrets(private val store: SecretStore, private val log: EnrollLog?) {
  /** Loads the bytes of a secret, which the caller wipes; null if there is no such secret. */
  fun load(name: String): HostAnswer<ByteArray?> = keeping("load") {
    val found = store.load(name)
    if (found != null && found.size != SIZE) {
      found.fill(0)
      throw EnrollException(Status.STORE_IO, "expected $SIZE bytes from load, got ${found.size}")
    }
    found
  }

  /** Wipes [secret]. */
  fun save(name: String, secret: ByteArray): HostAnswer<Unit> = try {
    keeping("save") { store.save(name, secret) }
  } finally {
    secret.fill(0)
  }

  fun remove(name: String): HostAnswer<Unit> = keeping("remove") { store.remove(name) }

  private inline fun <T> keeping(function: String, body: () -> T): HostAnswer<T> {
    val wasInside = inside.get()
    inside.set(true)
    return try {
      HostAnswer.Given(body())
    } catch (fault: Throwable) {
      log.tell("the host's secret store failed to $function: $fault", fault)
      val status = (fault as? EnrollException)?.status
      HostAnswer.Refused(status?.takeIf { it == Status.STORE_LOCKED || it == Status.NOT_FOUND } ?: Status.STORE_IO)
    } finally {
      inside.set(wasInside)
    }
  }

  companion object {
    /** The size of a secret in bytes. */
    const val SIZE = 32
    private val inside = ThreadLocal.withInitial { false }

    /** Whether this thread runs a function of a host's secret store. */
    val isHere: Boolean get() = inside.get()
  }
}

/**
 * Two secret stores, for the command that moves a key from [old] to [new]: a request of the core does not say
 * which store it means. The command loads all old secrets before it saves the first new secret, and uses no
 * name twice.
 */
internal class MovingSecrets(private val old: SecretStore, private val new: SecretStore) : SecretStore {
  private val moved = ConcurrentHashMap.newKeySet<String>()

  override fun load(name: String): ByteArray? = (if (moved.isEmpty()) old else new).load(name)

  override fun save(name: String, secret: ByteArray) {
    moved.add(name)
    new.save(name, secret)
  }

  override fun remove(name: String) = (if (name in moved) new else old).remove(name)
}
