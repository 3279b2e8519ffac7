package org.enrollkit

import java.util.concurrent.CopyOnWriteArrayList
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class EventTests : Case() {
  @ParameterizedTest(name = "events come in their order, to all who listen, and end with the client: {0}")
  @EnumSource
  fun events(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    val one = async(start = CoroutineStart.UNDISPATCHED) { client.events.toList() }
    val two = CopyOnWriteArrayList<Event>()
    val listening = launch(start = CoroutineStart.UNDISPATCHED) { client.events.collect(two::add) }
    client.signedIn()
    client.token.refresh()
    waitUntil("the renewal is told") { two.any { it is Event.TokenRenewed } && two.last() is Event.TokenRenewed }
    listening.cancel()
    listening.join()
    val heard = two.size
    client.logout.begin(localOnly = true)
    waitUntil("the first still listens") { !one.isCompleted && client.registration.state() is State.Unregistered }
    client.close()
    val all = one.await()
    assertEquals(heard, two.size)
    assertEquals(all.take(heard), two.toList())
    val states = all.filterIsInstance<Event.RegistrationChanged>().map { it.state::class.simpleName }
    assertTrue(states.containsAll(listOf("Authenticating", "AwaitingConfirmation", "Active", "Unregistered")), "$all")
  }

  @ParameterizedTest(name = "states begin with the present one and follow: {0}")
  @EnumSource
  fun states(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    val seen = CopyOnWriteArrayList<State>()
    val done = launch { client.states.collect(seen::add) }
    waitUntil("the first state") { seen.isNotEmpty() }
    assertTrue(seen.first() is State.Unregistered)
    client.signedIn()
    waitUntil("active") { seen.last() is State.Active }
    assertEquals(seen.distinct(), seen.toList())
    client.closeAndJoin()
    done.join()
  }

  @ParameterizedTest(name = "who takes one event listens no more; a closed client tells nothing: {0}")
  @EnumSource
  fun once(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    repeat(3) {
      val first = async(start = CoroutineStart.UNDISPATCHED) { client.events.first() }
      client.registration.begin()
      assertTrue(first.await() is Event.RegistrationChanged)
      client.registration.cancel()
      client.registration.clear()
    }
    assertEquals(0, Native.listeners.size)
    client.close()
    refused(Status.HANDLE) { client.events.first() }
    assertEquals(0, Native.listeners.size)
  }

  @ParameterizedTest(name = "a cancelled coroutine ends its call, and the client goes on: {0}")
  @EnumSource
  fun cancellation(backend: Backend) = runs {
    val enroll = backend.enroll()
    val client = enroll.open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val transaction = client.registration.begin()
    // A daemon accepts 16 requests for a client at once: calls that were not ended would block the next ones.
    repeat(20) {
      waitUntil("there is room for another") {
        val call = async(start = CoroutineStart.UNDISPATCHED) {
          runCatching { client.registration.awaitOutcome(transaction.id, 10.minutes) }
        }
        // This call is answered after the call above was accepted or refused.
        enroll.pkce.generate()
        val isTaken = !call.isCompleted
        call.cancel()
        assertEquals(isTaken, runCatching { call.await() }.exceptionOrNull() is CancellationException)
        isTaken
      }
    }
    waitUntil("the library has ended its calls") { Native.completions.size == 0 }
    Sandbox.follow(Sandbox.shared.play(transaction.url))
    // A daemon may still be ending the cancelled calls.
    var state: State? = null
    waitUntil("there is room for the next") {
      try {
        state = client.registration.awaitOutcome(transaction.id, 1.minutes)
      } catch (fault: EnrollException) {
        if (fault.status != Status.BUSY) throw fault
      }
      state != null
    }
    assertTrue(state is State.AwaitingConfirmation)
  }

  @ParameterizedTest(name = "a timeout ends the wait, and is told from a cancellation: {0}")
  @EnumSource
  fun timeout(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val transaction = client.registration.begin()
    val late = refused(Status.DEADLINE_EXCEEDED) { client.registration.awaitOutcome(transaction.id, 0.seconds) }
    assertTrue(late.isRetryable)
    assertEquals(Blame.CALLER, late.blame)
    refused(Status.INVALID_ARGUMENT) { client.registration.awaitOutcome(transaction.id, (-1).seconds) }
  }

  @ParameterizedTest(name = "closing a client ends the calls that wait in it: {0}")
  @EnumSource
  fun closing(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val transaction = client.registration.begin()
    val waiting = List(8) {
      async(start = CoroutineStart.UNDISPATCHED) { runCatching { client.registration.awaitOutcome(transaction.id, 10.minutes) } }
    }
    client.close()
    for (call in waiting) {
      val status = (call.await().exceptionOrNull() as EnrollException).status
      assertTrue(status == Status.CANCELLED || status == Status.HANDLE, "$status")
    }
  }
}
