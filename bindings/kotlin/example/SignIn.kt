import kotlinx.coroutines.runBlocking
import org.enrollkit.Action
import org.enrollkit.Configuration
import org.enrollkit.Enroll
import org.enrollkit.RegistrationState
import org.enrollkit.Store

fun main(arguments: Array<String>): Unit = runBlocking {
  val (issuer, store) = arguments
  val configuration = Configuration(
    issuer = issuer,
    clientId = "sample-app",
    redirectUri = "http://127.0.0.1/callback",
    scopes = listOf("openid", "profile", "email", "offline_access"),
    allowLoopbackHTTP = true, // only for a provider on this machine
  )
  Enroll.library().use { enroll -> // or Enroll.daemon()
    val client = enroll.open(configuration, Store.Directory(store))

    if (client.registration.state() is RegistrationState.Unregistered) {
      val transaction = client.registration.begin()
      println("Open this in your browser: ${(transaction.action as Action.OpenUrl).url}")

      val state = client.registration.await(transaction.id) // the redirect came back to a port of ours
      if (state is RegistrationState.AwaitingConfirmation) {
        println("Hello, ${state.profile.name ?: "somebody"}; is this you?")
        client.registration.confirm()
      }
    }

    val token = client.accessToken() // before every request; costs nothing while it is fresh
    println("A valid token of ${token.value.length} bytes.")

    client.logout.begin()?.let { println("To end the browser's session, open: $it") }
  }
}
