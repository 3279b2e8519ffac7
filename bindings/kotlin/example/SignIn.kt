import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking
import org.enrollkit.Action
import org.enrollkit.Configuration
import org.enrollkit.Enroll
import org.enrollkit.EnrollException
import org.enrollkit.State
import org.enrollkit.Store

fun main(arguments: Array<String>) {
  if (arguments.size != 2) end("usage: SignIn ISSUER STORE", 2)
  try {
    runBlocking { signIn(arguments[0], arguments[1]) }
  } catch (fault: EnrollException) {
    end("SignIn: ${fault.message}", 1)
  }
}

fun end(words: String, status: Int): Nothing {
  System.err.println(words)
  exitProcess(status)
}

suspend fun signIn(issuer: String, store: String) {
  val configuration = Configuration(
    issuer = issuer,
    clientId = "sample-app",
    redirectUri = "http://127.0.0.1/callback",
    scopes = listOf("openid", "profile", "email", "offline_access"),
    allowLoopbackHTTP = true, // only for a provider on this machine
  )
  Enroll.library().use { enroll -> // or Enroll.daemon()
    val client = enroll.open(configuration, Store.Directory(store))

    var state = client.registration.state()
    if (state is State.Unregistered) {
      val transaction = client.registration.begin()
      println("Open this in your browser: ${(transaction.action as Action.OpenURL).url}")
      state = client.registration.awaitOutcome(transaction.id, 10.minutes) // or client.signIn(DesktopBrowser())
    }
    if (state is State.AwaitingConfirmation) { // perhaps from an earlier run that has not confirmed yet
      println("Hello, ${state.profile.name ?: "somebody"}; is this you?")
      client.registration.confirm(state.transaction)
    }

    val token = client.accessToken() // before every request; costs nothing while it is fresh
    println("A valid token of ${token.value.length} bytes.")

    client.logout.begin().url?.let { println("To end the browser's session, open: $it") }
  }
}
