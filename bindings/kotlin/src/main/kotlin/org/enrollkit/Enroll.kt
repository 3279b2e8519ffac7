package org.enrollkit

import java.io.File
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * EnrollKit's core: `libenroll` in this process ([library]), or `enrolld` in another ([daemon]). The API is the same.
 *
 * Registers people and signs them in through the external browser, and then has a valid token for months. Commands that
 * need no client are here, by their two words: `accounts.list`, `pkce.generate`.
 */
public class Enroll private constructor(private val caller: Caller, private val core: Core) :
  ValueCommands(caller), AutoCloseable {
  private constructor(core: Core) : this(Caller(core.port), core)

  /**
   * Opens one account at one provider. Reads no network.
   *
   * @throws EnrollException [Status.CONFIGURATION] with the key at fault in [EnrollException.field]; statuses of stores
   */
  public suspend fun open(
    configuration: Configuration,
    store: Store,
    options: ClientOptions = ClientOptions(),
  ): EnrollClient = open("configuration", configuration.encode(), store, options)

  /** As [open], with a JSON object as providers hand it out, in either spelling of its keys. */
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

  /** As [open], with the file `NAME.json` in `$XDG_CONFIG_HOME/enrollkit`; with [daemon] only. */
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
    // The client is made inside: if this coroutine is cancelled meanwhile, nobody gets it, and the reaper closes it.
    return withContext(Dispatchers.IO) {
      val hub = EventHub()
      val port = core.open(parameters, options.transport, hub)
      EnrollClient(Caller(port, keeps = this@Enroll), port, hub)
    }
  }

  /**
   * Closes all clients that were opened here, and ends the daemon, which stores what was sent first. Blocks meanwhile.
   * Closing twice does nothing.
   */
  override fun close() {
    caller.close()
  }

  public companion object {
    /**
     * The core as a library of this process.
     *
     * @param directory where `libenroll_jni.so` and `libenroll.so.0` are. null: the system property
     *   `enrollkit.library.path`, else what the jar carries, else where the JVM looks for libraries
     * @param log is told what a host's own transport or secret store threw
     * @throws EnrollException [Status.UNSUPPORTED]: there is no such library, or it is not of this version
     */
    @JvmStatic
    @JvmOverloads
    public fun library(directory: File? = null, log: EnrollLog? = null): Enroll {
      NativeLibrary.load(directory)
      return Enroll(LibraryCore(log))
    }

    /**
     * The core as a process of its own, which ends with this one.
     *
     * @param program the daemon, `enrolld`, looked for in `PATH` unless it is a path
     * @param logLevel `error`, `warning`, `info` or `debug`
     * @param log is told what the daemon logs, and what a host's own transport or secret store threw
     * @throws EnrollException [Status.UNSUPPORTED]: the program cannot be started
     */
    @JvmStatic
    @JvmOverloads
    public fun daemon(program: String = "enrolld", logLevel: String = "warning", log: EnrollLog? = null): Enroll =
      Enroll(DaemonCore(DaemonConnection.start(listOf(program, "--log-level", logLevel), log), log))
  }
}

/** How to open a client; everything may be left out. */
public class ClientOptions(
  /** Names one set of tokens; `default` otherwise. */
  public val account: String? = null,
  /** Who guards the store's key. With [Enroll.library] a key file by default, with [Enroll.daemon] the best there is. */
  public val keys: Keys? = null,
  /** What the host says about the device. */
  public val platform: Platform? = null,
  /** Calls that ask for the registration wait until `platform.ready`. */
  public val waitForPlatform: Boolean = false,
  /** Tokens are renewed a little before they are due, whether anybody asks or not. */
  public val renewInBackground: Boolean = false,
  /** The host's own HTTP; null: libcurl. */
  public val transport: HttpTransport? = null,
)

/** A library or a daemon. */
internal interface Core {
  /** For commands without a client; closing it closes everything. */
  val port: Port

  /** Blocks. */
  suspend fun open(parameters: Parameters, transport: HttpTransport?, hub: EventHub): Port
}
