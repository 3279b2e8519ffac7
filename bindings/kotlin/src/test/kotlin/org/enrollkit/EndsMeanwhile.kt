package org.enrollkit

import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** This runs in a separate JVM, which ends while calls are in progress and callbacks are about to come. */
fun main() = runBlocking<Unit> {
  val enroll = Enroll.library()
  val configuration = Configuration(
    issuer = System.getProperty("enroll.issuer"),
    clientId = "sample-app",
    redirectUri = Sandbox.LOOPBACK,
    allowLoopbackHTTP = true,
  )
  val transport = ClientOptions(transport = UrlConnectionTransport())
  val client = enroll.open(configuration, Store.Memory, transport)
  val transaction = client.registration.begin()
  repeat(32) {
    async(Dispatchers.IO, CoroutineStart.UNDISPATCHED) { client.registration.awaitOutcome(transaction.id, 10.minutes) }
  }
  launch(Dispatchers.IO) { while (true) client.registration.state() }
  launch(Dispatchers.IO) { while (true) client.events.collect { } }
  repeat(50) { client.registration.state() }
  exitProcess(7)
}
