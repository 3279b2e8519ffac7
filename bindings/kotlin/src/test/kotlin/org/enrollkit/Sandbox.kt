package org.enrollkit

import java.io.File
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.HttpRequest as Request
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.put

/** A provider on this machine, which is a process, and a stand-in for its user, who needs no browser. */
class Sandbox(vararg options: String) : AutoCloseable {
  private val process = ProcessBuilder(
    setting("enroll.sandbox"), "--port", "0", "--quiet", "--exit-with-stdin", *options,
  ).redirectError(ProcessBuilder.Redirect.DISCARD).start()
  val issuer: String

  init {
    val ready = process.inputStream.bufferedReader().readLine() ?: throw AssertionError("the sandbox did not start")
    issuer = Json.parseToJsonElement(ready).jsonObject.need("issuer").text()
  }

  fun configuration(redirectUri: String = CUSTOM) = Configuration(
    issuer = issuer,
    clientId = "sample-app",
    redirectUri = redirectUri,
    postLogoutRedirectUri = "com.example.app:/signed-out",
    scopes = listOf("openid", "profile", "email", "offline_access"),
    allowLoopbackHTTP = true,
  )

  /** Runs a command of the sandbox's control: `settle`, `counts`, faults on demand. */
  fun control(action: String, vararg wish: Pair<String, Any>): JsonObject {
    val body = buildJsonObject {
      put("do", action)
      for ((name, value) in wish) {
        when (value) {
          is Int -> put(name, value)
          is Boolean -> put(name, value)
          else -> put(name, value.toString())
        }
      }
    }
    val request = Request.newBuilder(URI("$issuer/_control"))
      .header("Content-Type", "application/json").POST(BodyPublishers.ofString(body.toString())).build()
    val answer = browser.send(request, BodyHandlers.ofString())
    check(answer.statusCode() == 200) { "the sandbox answered ${answer.statusCode()}: ${answer.body()}" }
    return Json.parseToJsonElement(answer.body()).jsonObject
  }

  /** The redirect to which the browser goes after alice signed in at an authorize URL and consented. */
  fun play(url: String): String = control("settle", "url" to url).need("redirect").text()

  fun refreshes(): Int = control("counts").need("refreshes").int()

  override fun close() {
    process.outputStream.close()
    process.waitFor()
  }

  companion object {
    const val CUSTOM = "com.example.app:/callback"
    const val LOOPBACK = "http://127.0.0.1/callback"
    private val browser: HttpClient = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()

    /** Shared by all tests that set no faults. */
    val shared by lazy { Sandbox().also { closeAtEnd(it) } }

    /** Requests the URL, as a browser follows a redirect to a loopback address. */
    fun follow(url: String) {
      browser.send(Request.newBuilder(URI(url)).build(), BodyHandlers.ofString())
    }

    private fun closeAtEnd(sandbox: Sandbox) = Runtime.getRuntime().addShutdownHook(Thread(sandbox::close))
  }
}

fun setting(name: String): String = System.getProperty(name) ?: throw AssertionError("no system property $name")

fun top(): File = File(setting("enroll.top"))

/** The URL that the action asks the app to open. */
val Transaction.url: String get() = (action as Action.OpenURL).url

fun JsonPrimitive?.orEmpty(): String = this?.content.orEmpty()
