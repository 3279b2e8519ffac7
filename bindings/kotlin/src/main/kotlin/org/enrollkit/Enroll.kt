package org.enrollkit

import java.io.File
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * EnrollKit's core: `libenroll` in this process ([library]), or `enrolld` in another process ([daemon]). The
 * API is the same.
 *
 * Registers users and signs them in through the external browser. Your app then has a valid access token for months.
 * Commands that need no client are members of this class, named by their two words: `accounts.list`, `pkce.generate`.
 */
public class Enroll private constructor(private val caller: Caller, private val core: Core) :
  ValueCommands(caller), AutoCloseable {
  private constructor(core: Core) : this(Caller(core.port), core)

  /**
   * Opens one account at one provider. Sends no request.
   *
   * @throws EnrollException [Status.CONFIGURATION], with the invalid key in [EnrollException.field]; errors of the store
   */
  public suspend fun open(
    configuration: Configuration,
    store: Store,
    options: ClientOptions = ClientOptions(),
  ): EnrollClient = open("configuration", configuration.encode(), store, options)

  /** Like [open], with a configuration as a JSON object, whose keys may be in camelCase or in snake_case. */
  public suspend fun open(
    configuration: String,
    store: Store,
    options: ClientOptions = ClientOptions(),
  ): EnrollClient {
    val json = try {
      parseObject(configuration, "configuration")
    } catch (fault: EnrollException) {
      throw EnrollException(Status.JSON, fault.error.message, "configuration")
    }
    return open("configuration", json, store, options)
  }

  /** Like [open], with the file `NAME.json` in `$XDG_CONFIG_HOME/enrollkit`. Available only with [daemon]. */
  public suspend fun openNamed(
    configurationName: String,
    store: Store,
    options: ClientOptions = ClientOptions(),
  ): EnrollClient = open("configurationName", JsonPrimitive(configurationName), store, options)

  private suspend fun open(
    key: String,
    value: kotlinx.serialization.json.JsonElement,
    store: Store,
    options: ClientOptions,
  ): EnrollClient {
    val parameters = Parameters().apply {
      put(key, value)
      store(store)
      keys(options.keys)
      options.account?.let { put("account", JsonPrimitive(it)) }
      options.platform?.let { put("platform", it.encode()) }
      if (options.waitForPlatform) put("waitForPlatform", JsonPrimitive(true))
      if (options.renewInBackground) put("renewInBackground", JsonPrimitive(true))
    }
    // The client is made inside this block: if this coroutine is cancelled, the caller does not get the client, and the
    // reaper closes the client.
    return withContext(Dispatchers.IO) {
      val hub = EventHub()
      val port = core.open(parameters, options.transport, hub)
      EnrollClient(Caller(port, keeps = this@Enroll), port, hub, core.log)
    }
  }

  /**
   * Closes all clients that were opened here, and ends the daemon. Blocks until the results of renewals that were sent
   * are stored. A second call does nothing.
   */
  override fun close() {
    caller.close()
  }

  public companion object {
    /**
     * The core as a library of this process.
     *
     * @param directory the directory of `libenroll_jni.so` and `libenroll.so.0`. null: the system property
     *   `enrollkit.library.path`, else the libraries in the jar, else the JVM's library path
     * @param log receives the exceptions of a host's own transport or secret store, and a hint if a sign-in takes long
     * @throws EnrollException [Status.UNSUPPORTED]: the library was not found, or its version does not match
     */
    @JvmStatic
    @JvmOverloads
    public fun library(directory: File? = null, log: EnrollLog? = null): Enroll {
      NativeLibrary.load(directory)
      return Enroll(LibraryCore(log))
    }

    /**
     * The core as a separate process, which ends when this process ends.
     *
     * @param program the daemon, `enrolld`: a path, or a name that is looked up in `PATH`
     * @param logLevel `error`, `warning`, `info` or `debug`
     * @param log receives the daemon's log, the exceptions of a host's own transport or secret store, and a hint if a
     *   sign-in takes long
     * @throws EnrollException [Status.UNSUPPORTED]: the program could not be started
     */
    @JvmStatic
    @JvmOverloads
    public fun daemon(program: String = "enrolld", logLevel: String = "warning", log: EnrollLog? = null): Enroll =
      Enroll(DaemonCore(DaemonConnection.start(listOf(program, "--log-level", logLevel), log), log))
  }
}

/** Options for opening a client; all are optional. */
public class ClientOptions(
  /** The name of one set of tokens; by default `default`. */
  public val account: String? = null,
  /** The provider of the store's key. The default is a key file with [Enroll.library], and the best available
   * provider with [Enroll.daemon]. */
  public val keys: Keys? = null,
  /** Facts about the device. */
  public val platform: Platform? = null,
  /** Whether calls about the registration wait for `platform.ready`. */
  public val waitForPlatform: Boolean = false,
  /** Whether tokens are renewed shortly before they are due, even without a call. */
  public val renewInBackground: Boolean = false,
  /** The host's own HTTP transport; null for libcurl. */
  public val transport: HttpTransport? = null,
)

/** The core of this API: a library or a daemon. */
internal interface Core {
  /** The port for commands without a client. Closing this port closes all clients and the core. */
  val port: Port

  val log: EnrollLog?

  /** Opens a client; blocks. */
  suspend fun open(parameters: Parameters, transport: HttpTransport?, hub: EventHub): Port
}
