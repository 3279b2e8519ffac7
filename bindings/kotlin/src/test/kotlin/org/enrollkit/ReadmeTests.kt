package org.enrollkit

import java.net.ServerSocket
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest as Request
import java.net.http.HttpResponse.BodyHandlers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

class ReadmeTests : Case() {
  /** Runs the example as a program; returns its exit code and its standard error. */
  private fun example(vararg words: String): Pair<Int, String> {
    val java = "${System.getProperty("java.home")}/bin/java"
    val command = listOf(java, "-cp", System.getProperty("java.class.path"), "SignInKt", *words)
    val program = ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
    val said = program.errorStream.bufferedReader().readText()
    return program.waitFor() to said
  }

  @Test
  @DisplayName("the example says in one line how it is used, and that the provider is down")
  fun saysWhatIsWrong() {
    assertEquals(2 to "usage: SignIn ISSUER STORE\n", example())
    val port = ServerSocket(0).use { it.localPort }
    val (status, said) = example("http://127.0.0.1:$port", store().path)
    assertEquals(1 to 1, status to said.count { it == '\n' }, said)
    assertTrue("no connection to http://127.0.0.1:$port" in said, said)
  }

  @Test
  @DisplayName("the few lines of the project's README give a token that a server takes")
  fun lines() = runs {
    val configuration = Sandbox.shared.configuration()
    val path = store().path
    val browser = UserAgent { url, _ -> Sandbox.shared.play(url) }
    val request = Request.newBuilder(URI("${Sandbox.shared.issuer}/userinfo"))
    // example: kotlin
    Enroll.library().use { enroll -> // or Enroll.daemon()
      val client = enroll.open(configuration, Store.Directory(path))
      val state = client.signIn(browser) // DesktopBrowser(), or a UserAgent of yours
      if (state is State.AwaitingConfirmation) client.registration.confirm(state.transaction)

      val token = client.accessToken() // before every request; costs nothing while it is fresh
      request.header("Authorization", token.authorization)
    }
    // end
    assertEquals(200, HttpClient.newHttpClient().send(request.build(), BodyHandlers.discarding()).statusCode())
  }
}
