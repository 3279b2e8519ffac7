// Unbuilt: this was written without an Android SDK.
//
// The native part on Android. It carries out the actions of www/enroll.js with the Kotlin binding, and is compiled
// into one module with the binding. Commands are passed on by name, as JSON; the library interprets them.

package org.enrollkit.cordova

import android.content.ActivityNotFoundException
import android.content.Intent
import android.net.Uri
import androidx.browser.customtabs.CustomTabsIntent
import java.io.File
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.apache.cordova.CallbackContext
import org.apache.cordova.CordovaPlugin
import org.apache.cordova.PluginResult
import org.enrollkit.EnrollError
import org.enrollkit.EnrollException
import org.enrollkit.Event
import org.enrollkit.EventHub
import org.enrollkit.Keys
import org.enrollkit.Kind
import org.enrollkit.LibraryCore
import org.enrollkit.NativeLibrary
import org.enrollkit.Parameters
import org.enrollkit.Port
import org.enrollkit.Status
import org.enrollkit.Store
import org.enrollkit.UrlConnectionTransport
import org.enrollkit.android.KeystoreSecretStore
import org.json.JSONObject

class EnrollPlugin : CordovaPlugin() {
  private class Client(val port: Port, val hub: EventHub)

  private val clients = ConcurrentHashMap<String, Client>()
  private val calls = ConcurrentHashMap<Long, Job>()
  private val lastClient = AtomicInteger()
  private val urls = HeldUrls()

  /** The callback for events and URLs; null while no page listens. */
  @Volatile private var listener: CallbackContext? = null

  /** The calls of the current page. A reload ends them. */
  @Volatile private var page = newPage()

  private val core by lazy {
    NativeLibrary.load(null)
    LibraryCore(null)
  }

  private fun newPage() = CoroutineScope(SupervisorJob() + Dispatchers.Default)

  // The life cycle of the app.

  override fun pluginInitialize() {
    receive(cordova.activity.intent)
  }

  /** The intent comes from org.enrollkit.android.RedirectActivity, or from the system if the app has its own intent
   * filters. */
  override fun onNewIntent(intent: Intent) {
    receive(intent)
  }

  /** Any app may send such an intent: a URL that no transaction waits for changes nothing. */
  private fun receive(intent: Intent?) {
    if (intent?.action != Intent.ACTION_VIEW) return
    val url = intent.dataString ?: return
    // The URL is removed, so that an activity that is made again does not deliver it a second time.
    intent.data = null
    tell(message(urls.add(url)))
  }

  /** The page has changed: the clients and calls of the previous page end. */
  override fun onReset() {
    listener = null
    page.cancel()
    page = newPage()
    val left = clients.values.toList()
    clients.clear()
    calls.clear()
    // A renewal that was sent is stored first, which may take a while.
    for (client in left) closing.launch { client.port.close() }
  }

  override fun onDestroy() {
    onReset()
  }

  private val closing = CoroutineScope(SupervisorJob() + Dispatchers.IO)

  // The actions that the page calls.

  override fun execute(action: String, rawArgs: String, callbackContext: CallbackContext): Boolean {
    val callback = callbackContext
    val arguments = Json.parseToJsonElement(rawArgs) as JsonArray
    when (action) {
      "open" -> answering(callback) { open(arguments[0] as JsonObject) }
      "close" -> answering(callback) { close(text(arguments[0])) }
      "call" -> call(arguments, callback)
      "cancel" -> {
        calls[number(arguments[0])]?.cancel()
        callback.success()
      }
      "listen" -> listen(callback)
      "taken" -> {
        urls.taken(number(arguments[0]).toInt())
        callback.success()
      }
      "browse" -> answering(callback) { browse(text(arguments[0]), arguments[1] == JsonPrimitive(true)) }
      else -> return false
    }
    return true
  }

  private suspend fun open(wish: JsonObject): JsonObject {
    val parameters = Parameters()
    for (name in listOf("configuration", "account", "platform", "renewInBackground", "waitForPlatform")) {
      wish[name]?.let { parameters.put(name, it) }
    }
    parameters.store(Store.Directory(directory(wish["store"])))
    parameters.keys(Keys.Host(secrets()))
    val hub = EventHub()
    val client = Client(core.open(parameters, UrlConnectionTransport(), hub), hub)
    val id = "c${lastClient.incrementAndGet()}"
    clients[id] = client
    val events = Channel<Event>(Channel.UNLIMITED)
    hub.add(events, client.port)
    page.launch { for (event in events) tell(id, client, event) }
    return buildJsonObject { put("client", id) }
  }

  private fun close(id: String): JsonObject {
    val client = clients.remove(id) ?: throw closed()
    closing.launch { client.port.close() }
    return JsonObject(emptyMap())
  }

  /** [number, client or null, command, parameters] */
  private fun call(arguments: JsonArray, callback: CallbackContext) {
    val number = number(arguments[0])
    // The job starts only after it is in the table: a cancel that follows at once finds it.
    val job = answering(callback, CoroutineStart.LAZY) {
      try {
        run(arguments[1], text(arguments[2]), arguments[3] as JsonObject)
      } finally {
        calls.remove(number)
      }
    }
    calls[number] = job
    job.start()
  }

  private suspend fun run(id: JsonElement, command: String, wish: JsonObject): JsonObject {
    val parameters = Parameters()
    for ((name, value) in wish) {
      if (name == "keys" || name == "newKeys") throw refusal(name, "the app itself chooses the key provider")
      if (name != "store") parameters.put(name, value)
    }
    val timeout = ((wish["timeout"] as? JsonPrimitive)?.content?.toLongOrNull() ?: DEFAULT_TIMEOUT).seconds
    if (id !is JsonNull) {
      val client = clients[text(id)] ?: throw closed()
      return client.port.call(command, Kind.WAITING, timeout, parameters)
    }
    if (command.substringBefore('.') in STORE_GROUPS) {
      parameters.store(Store.Directory(directory(wish["store"])))
      parameters.keys(Keys.Host(secrets()))
    }
    return core.port.call(command, Kind.BLOCKING, timeout, parameters)
  }

  private suspend fun browse(url: String, isOtherApp: Boolean): JsonObject {
    val uri = Uri.parse(url)
    if (!mayOpen(uri, isOtherApp)) throw refusal("url", "expected an https URL for the browser")
    withContext(Dispatchers.Main) {
      try {
        if (isOtherApp) {
          cordova.activity.startActivity(Intent(Intent.ACTION_VIEW, uri).addCategory(Intent.CATEGORY_BROWSABLE))
        } else {
          CustomTabsIntent.Builder().setShowTitle(true).build().launchUrl(cordova.activity, uri)
        }
      } catch (fault: ActivityNotFoundException) {
        val what = if (isOtherApp) "other app" else "browser"
        throw EnrollException(Status.UNSUPPORTED, "this device has no $what", cause = fault)
      }
    }
    return JsonObject(emptyMap())
  }

  // Places of files.

  /** A page passes a name, not a path. */
  private fun directory(name: JsonElement?): File {
    val text = if (name == null) "enroll" else (name as? JsonPrimitive)?.takeIf { it.isString }?.content
    if (text == null || !STORE_NAME.matches(text)) {
      throw refusal("store", "expected a name of at most 64 letters, digits, '.', '-' and '_'")
    }
    // The store is kept out of backups, because its key is unavailable on another device.
    return File(cordova.context.noBackupFilesDir, text)
  }

  private fun secrets() = KeystoreSecretStore(cordova.context)

  // Answers to the page.

  private fun answering(
    callback: CallbackContext,
    start: CoroutineStart = CoroutineStart.DEFAULT,
    work: suspend () -> JsonObject,
  ): Job = page.launch(start = start) {
    try {
      callback.success(JSONObject(work().toString()))
    } catch (fault: CancellationException) {
      callback.error(detail(EnrollException(Status.CANCELLED, "the call was cancelled").error))
      throw fault
    } catch (fault: EnrollException) {
      callback.error(detail(fault.error))
    } catch (fault: Exception) {
      callback.error(detail(EnrollException(Status.INTERNAL, "the plugin failed: ${fault.javaClass.name}").error))
    }
  }

  private fun detail(error: EnrollError) = JSONObject(encode(error).toString())

  private fun encode(error: EnrollError) = buildJsonObject {
    put("status", error.status.wire)
    put("code", error.code)
    put("blame", error.blame.wire)
    put("retryable", error.retryable)
    put("message", error.message)
    error.field?.let { put("field", it) }
    error.httpStatus?.let { put("httpStatus", it) }
    error.oauthError?.let { put("oauthError", it) }
    error.oauthErrorDescription?.let { put("oauthErrorDescription", it) }
    error.retryAfter?.let { put("retryAfter", it.inWholeSeconds) }
  }

  private fun listen(callback: CallbackContext) {
    listener = callback
    tell(buildJsonObject { put("type", "ready") })
    urls.all().forEach { tell(message(it)) }
  }

  private fun message(held: HeldUrls.Held) = buildJsonObject {
    put("type", "url")
    put("id", held.id)
    put("url", held.url)
  }

  private fun tell(message: JsonObject) {
    val result = PluginResult(PluginResult.Status.OK, JSONObject(message.toString()))
    // The same callback gets later messages, too.
    result.keepCallback = true
    listener?.sendPluginResult(result)
  }

  private suspend fun tell(id: String, client: Client, event: Event) {
    val (name, parameters) = when (event) {
      // The page's event has the current state, as the library's JSON.
      is Event.RegistrationChanged -> "registration.changed" to state(client)
      is Event.RegistrationSettled -> "registration.settled" to state(client)
      is Event.TokenRenewed -> "token.renewed" to buildJsonObject { put("expiresAt", event.expiresAt.epochSeconds) }
      is Event.TokenRenewalFailed -> "token.renewalFailed" to buildJsonObject { put("error", encode(event.error)) }
      is Event.LogoutFinished -> "logout.finished" to JsonObject(emptyMap())
      is Event.ErrorReported -> "error.reported" to buildJsonObject {
        put("error", encode(event.error))
        put("messageKey", event.messageKey)
        put("helps", event.helps.wire)
      }
    }
    if (parameters == null || clients[id] !== client) return
    tell(
      buildJsonObject {
        put("type", "event")
        put("client", id)
        put("name", name)
        put("parameters", parameters)
      },
    )
  }

  private suspend fun state(client: Client): JsonObject? = try {
    client.port.call("registration.state", Kind.BLOCKING, DEFAULT_TIMEOUT.seconds, Parameters())
  } catch (_: EnrollException) {
    null
  }

  private companion object {
    const val DEFAULT_TIMEOUT = 30L
    val STORE_NAME = Regex("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
    val STORE_GROUPS = setOf("accounts", "installation", "store")
    val LOOPBACK = setOf("127.0.0.1", "localhost", "[::1]", "::1")
    val NEVER = setOf("about", "blob", "content", "data", "file", "intent", "javascript", "android-app")

    /** Whether the URL is a provider's page: over https, or over http on this device. Another app's link may have
     * its own scheme. */
    fun mayOpen(uri: Uri, isOtherApp: Boolean): Boolean = when (val scheme = uri.scheme?.lowercase()) {
      "https" -> uri.host != null
      "http" -> uri.host in LOOPBACK
      null -> false
      else -> isOtherApp && '.' in scheme && scheme !in NEVER
    }

    fun text(element: JsonElement): String =
      (element as? JsonPrimitive)?.takeIf { it.isString }?.content
        ?: throw refusal("arguments", "expected a string")

    fun number(element: JsonElement): Long =
      (element as? JsonPrimitive)?.takeIf { !it.isString }?.content?.toLongOrNull()
        ?: throw refusal("arguments", "expected a number")

    fun refusal(field: String, message: String) = EnrollException(Status.INVALID_ARGUMENT, message, field)

    fun closed() = EnrollException(Status.HANDLE, "expected the id of an open client", "client")
  }
}
