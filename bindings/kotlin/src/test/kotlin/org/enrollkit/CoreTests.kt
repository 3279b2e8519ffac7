package org.enrollkit

import java.io.File
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.toList
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

/** A core that is missing, is another program, or dies. */
class CoreTests : Case() {
  @Test
  @DisplayName("a daemon that is killed ends every call, event and client, and says how")
  fun killed() = runs {
    val enroll = Backend.DAEMON.enroll()
    val client = enroll.open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val transaction = client.registration.begin()
    val calls = List(10) {
      async(start = CoroutineStart.UNDISPATCHED) { runCatching { client.registration.awaitOutcome(transaction.id, 10.minutes) } }
    }
    val events = async(start = CoroutineStart.UNDISPATCHED) { runCatching { client.events.toList() } }
    // Once this call is answered, the daemon has read everything that was sent before it.
    enroll.pkce.generate()
    ProcessHandle.current().children().filter { "enrolld" in it.info().command().orElse("") }.forEach { it.destroyForcibly() }
    for (call in calls + events) {
      val fault = call.await().exceptionOrNull() as DaemonEndedException
      assertEquals(137, fault.exitCode)
      assertEquals(Blame.HOST, fault.blame)
    }
    assertTrue(refused(Status.HANDLE) { enroll.pkce.generate() } is DaemonEndedException)
    refused(Status.HANDLE) { client.accessToken() }
    client.close()
    enroll.close()
  }

  @Test
  @DisplayName("a daemon that is not there, or is another program, is told apart")
  fun absent() = runs {
    val missing = refused(Status.UNSUPPORTED) { Enroll.daemon("/no/such/enrolld") }
    assertTrue("/no/such/enrolld" in missing.message!!)
    val other = closed(Enroll.daemon("/bin/echo"))
    val fault = refused(Status.HANDLE) { other.pkce.generate() }
    assertTrue("JSON" in fault.message!!, fault.message)
    val silent = closed(Enroll.daemon("/bin/false"))
    assertEquals(1, (refused(Status.HANDLE) { silent.pkce.generate() } as DaemonEndedException).exitCode)
  }

  @Test
  @DisplayName("closing a daemon ends its process in order, and its log holds no secret")
  fun orderly() = runs {
    val enroll = Backend.DAEMON.enroll()
    val daemon = ProcessHandle.current().children().filter { "enrolld" in it.info().command().orElse("") }.toList().last()
    val client = enroll.open(Sandbox.shared.configuration(), store()).signedIn()
    val token = client.accessToken().value
    enroll.close()
    assertFalse(daemon.isAlive)
    waitUntil("the log was read") { log.lines.isNotEmpty() }
    assertFalse(log.lines.any { token in it })
  }

  @Test
  @DisplayName("a library that is not there is an error that says where it was looked for")
  fun noLibrary() {
    val (code, output) = java("org.enrollkit.NoLibraryKt", "-Denrollkit.library.path=/no/such/folder")
    assertEquals(0, code, output)
    assertTrue("unsupported: libenroll_jni.so was not found in /no/such/folder" in output, output)
  }

  @Test
  @DisplayName("a JVM of musl is told that the jar's libraries are for glibc, and what helps")
  fun musl() {
    val (code, output) = java("org.enrollkit.OnMuslKt")
    assertEquals(0, code, output)
    assertTrue("unsupported: the jar's libraries need glibc, and this JVM uses musl: set enrollkit.library.path" in output, output)
  }

  @Test
  @DisplayName("a program whose threads are inside the library ends all the same")
  fun endsMeanwhile() {
    val (code, output) = java("org.enrollkit.EndsMeanwhileKt", "-Denroll.issuer=${Sandbox.shared.issuer}")
    assertEquals(7, code, output)
    assertFalse("WARNING" in output || "FATAL" in output, output)
  }

  @Test
  @DisplayName("the README's example signs in, in a JVM of its own")
  fun example() = runs {
    val readme = File(setting("enroll.binding"), "README.md").readText()
    val blocks = Regex("<!-- example: (\\S+) -->\n```kotlin\n(.*?)```\n", RegexOption.DOT_MATCHES_ALL).findAll(readme).toList()
    assertEquals(2, blocks.size)
    for (block in blocks) assertEquals(File(top(), block.groupValues[1]).readText(), block.groupValues[2])

    val arguments = listOf(Sandbox.shared.issuer, store().path)
    val process = ProcessBuilder(command("SignInKt") + arguments).redirectErrorStream(true).start()
    val lines = process.inputStream.bufferedReader()
    val first = lines.readLine()
    assertTrue("http" in first, first)
    Sandbox.follow(Sandbox.shared.play(first.substring(first.indexOf("http"))))
    val rest = lines.readText()
    assertEquals(0, process.waitFor(), rest)
    assertTrue("Hello, Alice" in rest && Regex("A valid token of \\d+ bytes").containsMatchIn(rest), rest)
    assertTrue("end the browser's session" in rest, rest)
  }

  private fun command(main: String, vararg options: String): List<String> {
    val java = File(System.getProperty("java.home"), "bin/java").path
    return listOf(java, "-Xcheck:jni", *options, "-cp", System.getProperty("java.class.path"), main)
  }

  private fun java(main: String, vararg options: String): Pair<Int, String> {
    val process = ProcessBuilder(command(main, *options)).redirectErrorStream(true).start()
    val output = process.inputStream.bufferedReader().readText()
    return process.waitFor() to output
  }
}
