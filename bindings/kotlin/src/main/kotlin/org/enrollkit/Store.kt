package org.enrollkit

import java.io.File
import kotlin.time.Duration

/** Where tokens are stored. */
public sealed interface Store {
  /** A store in memory, which lasts until the client is closed. For tests. */
  public data object Memory : Store

  /** In a directory of sealed files. If the directory is missing, it is made with mode 0700. Its parent must
   * exist. */
  public data class Directory(
    /** An absolute path. */
    public val path: String,
  ) : Store {
    /** An absolute path of a file. */
    public constructor(file: File) : this(file.path)
  }

  /** The text that names this store for the core. */
  public val name: String
    get() = when (this) {
      Memory -> "memory"
      is Directory -> path
    }
}

/** The provider of a store's key. */
public sealed interface Keys {
  /** How long the kernel's keyring keeps the opened key for the user's other processes; at most a week. */
  public val sessionCache: Duration

  /** For a new store, the best available provider; for an existing store, the provider that has its key. */
  public data class Auto(override val sessionCache: Duration = Duration.ZERO) : Keys

  /** A key file of mode 0600: `key` in the store's directory, or [path]. */
  public data class File(
    /** An absolute path; null for `key` in the store's directory. */
    public val path: String? = null,
    override val sessionCache: Duration = Duration.ZERO,
  ) : Keys

  /** The desktop's keyring, which must be unlocked. */
  public data class SecretService(override val sessionCache: Duration = Duration.ZERO) : Keys

  /** A key derived from the user's passphrase with scrypt. */
  public class Passphrase(
    /** The user's passphrase. */
    public val text: String,
    override val sessionCache: Duration = Duration.ZERO,
  ) : Keys {
    override fun toString(): String = "Passphrase(sessionCache=$sessionCache)"
  }

  /** Your app's own secret store, such as an Android Keystore. */
  public class Host(
    /** The secret store. */
    public val secrets: SecretStore,
    override val sessionCache: Duration = Duration.ZERO,
  ) : Keys
}

/**
 * Your app's own store for secrets: the key of a store is wrapped with one of these secrets. Several threads
 * call its functions at once, inside calls of clients. The functions must not use a client or, with
 * [Enroll.daemon], a command with [Keys.Host]: such a use fails with [Status.REENTRANT].
 *
 * An exception of a function is logged and becomes [Status.STORE_IO]. An [EnrollException] with [Status.STORE_LOCKED]
 * means that the user has to unlock something first; [locked] makes such an exception. With [Enroll.daemon] a
 * function that takes more than 30 seconds also counts as locked.
 */
public interface SecretStore {
  /** The 32 bytes that [save] saved under this name, or null. Return a copy, because the returned bytes are
   * wiped after use. */
  public fun load(name: String): ByteArray?

  /** Saves the 32 bytes of [secret], durably before it returns. Keep a copy, because [secret] is wiped
   * afterwards. */
  public fun save(name: String, secret: ByteArray)

  /** Removes a name. */
  public fun remove(name: String)

  public companion object {
    /** The exception that the functions of [SecretStore] throw while the user has to unlock something. */
    public fun locked(cause: Throwable? = null): EnrollException =
      EnrollException(Status.STORE_LOCKED, "the host's secret store is locked: unlock it and retry", "keys", cause)
  }
}
