// Measures the work before a request with a valid cached token, once in the Kotlin binding and once in Google's OAuth
// client for Java. Google's `Credential` takes a lock, checks when the token expires, and puts the token into the
// request's headers.
//
//     TokenAccess ISSUER STORE      prints the address to open, reads the redirect, prints "OURS THEIRS" for each round

import com.google.api.client.auth.oauth2.BearerToken
import com.google.api.client.auth.oauth2.Credential
import com.google.api.client.http.GenericUrl
import com.google.api.client.http.javanet.NetHttpTransport
import kotlinx.coroutines.runBlocking
import org.enrollkit.Action
import org.enrollkit.Configuration
import org.enrollkit.Enroll
import org.enrollkit.Store

const val CALLS = 20_000
const val ROUNDS = 151

/** The first rounds, in which the JIT compiler works, do not count. */
const val WARMING = 50

fun main(arguments: Array<String>) = runBlocking {
  val configuration = Configuration(
    issuer = arguments[0],
    clientId = "sample-app",
    redirectUri = "com.example.app:/callback",
    scopes = listOf("openid", "profile", "offline_access"),
    allowLoopbackHTTP = true,
  )
  Enroll.library().use { enroll ->
    val client = enroll.open(configuration, Store.Directory(arguments[1]))
    println((client.registration.begin().action as Action.OpenURL).url)
    client.registration.resume(readln())
    client.registration.confirm()

    val credential = Credential(BearerToken.authorizationHeaderAccessMethod())
    credential.accessToken = client.accessToken().value
    credential.expiresInSeconds = 86400
    val request = NetHttpTransport().createRequestFactory().buildGetRequest(GenericUrl("https://api.example/"))

    var bytes = 0L
    for (round in 0 until WARMING + ROUNDS) {
      val began = System.nanoTime()
      repeat(CALLS) { bytes += client.accessToken().value.length }
      val middle = System.nanoTime()
      repeat(CALLS) {
        credential.intercept(request)
        bytes += request.headers.authorization.length
      }
      val ended = System.nanoTime()
      if (round >= WARMING) {
        println("${(middle - began).toDouble() / CALLS} ${(ended - middle).toDouble() / CALLS}")
      }
    }
    check(bytes > 0)
  }
}
