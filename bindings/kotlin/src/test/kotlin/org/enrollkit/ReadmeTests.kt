package org.enrollkit

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest as Request
import java.net.http.HttpResponse.BodyHandlers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

class ReadmeTests : Case() {
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
      val state = client.signIn(browser) // opens the user's browser, and takes the redirect back
      if (state is RegistrationState.AwaitingConfirmation) client.registration.confirm()

      val token = client.accessToken() // before every request; costs nothing while it is fresh
      request.header("Authorization", token.authorization)
    }
    // end
    assertEquals(200, HttpClient.newHttpClient().send(request.build(), BodyHandlers.discarding()).statusCode())
  }
}
