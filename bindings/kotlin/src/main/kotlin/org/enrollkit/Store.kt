package org.enrollkit

import java.io.File
import kotlin.time.Duration

/** Where tokens are kept. */
public sealed interface Store {
  /** In memory, gone with the client: for tests. */
  public data object Memory : Store

  /** In a directory of sealed files, made with mode 0700 where it is missing. Its parent exists. */
  public data class Directory(
    /** An absolute path. */
    public val path: String,
  ) : Store {
    /** The same of a file. */
    public constructor(file: File) : this(file.path)
  }

  /** As the core reads it. */
  public val name: String
    get() = when (this) {
      Memory -> "memory"
      is Directory -> path
    }
}

/** Who guards the key of a store. */
public sealed interface Keys {
  /** How long the opened key is remembered in the kernel's keyring for other processes of the user; at most a week. */
  public val sessionCache: Duration

  /** The best that is present, or the one that has the key. */
  public data class Auto(override val sessionCache: Duration = Duration.ZERO) : Keys

  /** A key file of mode 0600: `key` in the store's directory, or [path], which is absolute. */
  public data class File(
    /** An absolute path, elsewhere than in the store; null: in the store. */
    public val path: String? = null,
    override val sessionCache: Duration = Duration.ZERO,
  ) : Keys

  /** The desktop's keyring, which has to be unlocked already. */
  public data class SecretService(override val sessionCache: Duration = Duration.ZERO) : Keys

  /** A passphrase that the user typed, by way of scrypt. */
  public class Passphrase(
    /** What the user typed. */
    public val text: String,
    override val sessionCache: Duration = Duration.ZERO,
  ) : Keys {
    override fun toString(): String = "Passphrase(sessionCache=$sessionCache)"
  }

  /** The host's own secrets: an Android Keystore, say. */
  public class Host(
    /** Where the host keeps them. */
    public val secrets: SecretStore,
    override val sessionCache: Duration = Duration.ZERO,
  ) : Keys
}

/**
 * Secrets as the host keeps them: the key of a store is wrapped with one. Called by several threads at once, inside a
 * call: none of the functions may use a client, that is [Status.REENTRANT]; nor, with [Enroll.daemon], a command with
 * [Keys.Host].
 *
 * What a function throws is told to the log, and counts as [Status.STORE_IO]; an [EnrollException] with
 * [Status.STORE_LOCKED] says that the user has to unlock something first ([locked] makes one). With [Enroll.daemon] a
 * function that takes 30 seconds counts as locked, too.
 */
public interface SecretStore {
  /** The 32 bytes that [save] was given for this name, or null. They are wiped after use: give a copy. */
  public fun load(name: String): ByteArray?

  /** Keeps the 32 bytes of [secret], durably before it returns. They are wiped afterwards: keep a copy. */
  public fun save(name: String, secret: ByteArray)

  /** Forgets a name. */
  public fun remove(name: String)

  public companion object {
    /** What [SecretStore]'s functions throw while the user has to unlock something. */
    public fun locked(cause: Throwable? = null): EnrollException =
      EnrollException(Status.STORE_LOCKED, "the host's secret store is locked: unlock it, and try again", "keys", cause)
  }
}
