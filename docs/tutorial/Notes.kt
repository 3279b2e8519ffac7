// Notes: a program that signs its user in once and asks an API who the user is. docs/tutorial/kotlin.md
// explains each part.

// example: configuration
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URI
import kotlin.system.exitProcess
import kotlinx.coroutines.runBlocking
import org.enrollkit.AccessToken
import org.enrollkit.Configuration
import org.enrollkit.DesktopBrowser
import org.enrollkit.Enroll
import org.enrollkit.EnrollClient
import org.enrollkit.EnrollException
import org.enrollkit.State
import org.enrollkit.Status
import org.enrollkit.Store

fun configuration(issuer: String) = Configuration(
  issuer = issuer,
  clientId = "sample-app",
  redirectUri = "http://127.0.0.1/callback",
  scopes = listOf("openid", "profile", "email", "offline_access"),
  allowLoopbackHTTP = true, // only for a provider on this machine
)

val store = Store.Directory(System.getProperty("user.home") + "/.notes")
// end

// example: sign-in
suspend fun signIn(client: EnrollClient) {
  val state = client.signIn(DesktopBrowser()) // opens the browser, and waits until it comes back
  if (state is State.AwaitingConfirmation) {
    println("You signed in as ${state.profile.name ?: "somebody"}.")
    client.registration.confirm(state.transaction)
  }
}

suspend fun accessToken(client: EnrollClient): AccessToken =
  try {
    client.accessToken() // from memory, or renewed if it is due
  } catch (fault: EnrollException) {
    if (fault.status != Status.REAUTHENTICATE && fault.status != Status.ILLEGAL_STATE) throw fault
    signIn(client) // nobody is signed in, the session has ended, or nobody has confirmed it
    client.accessToken()
  }
// end

// example: request
suspend fun who(client: EnrollClient, issuer: String): String {
  val connection = URI("$issuer/userinfo").toURL().openConnection() as HttpURLConnection
  connection.setRequestProperty("Authorization", accessToken(client).authorization)
  return connection.inputStream.use { it.reader().readText() }
}
// end

// example: main
fun main(arguments: Array<String>) {
  val issuer = arguments.firstOrNull() ?: end("usage: notes ISSUER [logout]", 2)
  try {
    runBlocking {
      Enroll.library().use { enroll ->
        val client = enroll.open(configuration(issuer), store)
        if (arguments.getOrNull(1) == "logout") {
          client.logout.begin()
          println("You are signed out.")
        } else {
          println("The API knows you as ${who(client, issuer)}")
        }
      }
    }
  } catch (fault: EnrollException) {
    end("notes: ${fault.message}", 1)
  } catch (fault: IOException) {
    end("notes: the API does not answer: ${fault.message}", 1)
  }
}

fun end(words: String, status: Int): Nothing {
  System.err.println(words)
  exitProcess(status)
}
// end
