import org.enrollkit.Claims
import org.enrollkit.EnrollClient
import org.enrollkit.EnrollError
import org.enrollkit.RegistrationChoice
import org.enrollkit.State
import org.enrollkit.Remedy
import org.enrollkit.Step

/** A screen of the app. */
interface Screen {
  fun splash()
  fun waysToRegister(choices: List<RegistrationChoice>)
  fun progress(step: Step)
  fun question(profile: Claims)
  fun app()
  fun problem(error: EnrollError, remedy: Remedy? = null)
}

/** Shows each state of the registration until the client is closed. The compiler checks that no state is missing. */
suspend fun follow(client: EnrollClient, screen: Screen) = client.states.collect { state ->
  when (state) {
    State.Starting -> screen.splash()
    is State.Unregistered -> screen.waysToRegister(state.choices)
    is State.Authenticating -> screen.progress(state.step)
    is State.AwaitingConfirmation -> screen.question(state.profile)
    is State.Active -> screen.app()
    is State.RenewalFailed -> screen.problem(state.error, state.remedy)
    is State.RegistrationFailed -> screen.problem(state.error)
  }
}
