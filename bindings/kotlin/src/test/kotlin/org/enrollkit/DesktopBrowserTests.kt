package org.enrollkit

import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.exists
import kotlin.io.path.readLines
import kotlin.io.path.writeText
import kotlinx.coroutines.async
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class DesktopBrowserTests : Case() {
  @TempDir lateinit var folder: Path

  /** A program that writes the arguments that it got into a file, then does [more]. */
  private fun program(name: String, more: String = "") = folder.resolve(name).also {
    it.writeText("#!/bin/sh\nprintf '%s\\n' \"$@\" >'$folder/opened.new'; mv '$folder/opened.new' '$folder/opened'\n$more\n")
    Files.setPosixFilePermissions(it, java.nio.file.attribute.PosixFilePermissions.fromString("rwx------"))
  }

  private fun browser(vararg environment: Pair<String, String>) = DesktopBrowser(mapOf(*environment), "Linux")

  private suspend fun opened(): List<String> {
    val record = folder.resolve("opened")
    waitUntil("the browser is opened") { record.exists() }
    return record.readLines()
  }

  @Test
  @DisplayName("a sign-in opens the program that BROWSER names, and the redirect comes back to the core's listener")
  fun signsIn() = runs {
    // The first program does not exist; the second stays open as long as its user likes.
    val browser = browser("BROWSER" to "/no/browser:${program("browser", "while [ -e '$folder' ]; do sleep 0.1; done")} --new-window")
    val client = Backend.LIBRARY.enroll().open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val state = async { client.signIn(browser) }
    val (option, url) = opened()
    assertEquals("--new-window", option)
    Sandbox.follow(Sandbox.shared.play(url))
    assertTrue(state.await() is State.AwaitingConfirmation)
  }

  @Test
  @DisplayName("%s stands for the URL")
  fun placeholder() = runs {
    val browser = browser("BROWSER" to "${program("browser")} --app=%s --quiet")
    assertEquals(null, browser.open("https://id.example/?a=b&c=d", Sandbox.LOOPBACK))
    assertEquals(listOf("--app=https://id.example/?a=b&c=d", "--quiet"), opened())
  }

  @Test
  @DisplayName("without a browser that opens and comes back, the host is told to show the URL")
  fun refused() = runs {
    val failing = program("failing", "exit 3")
    for ((browser, redirect, why) in listOf(
      Triple(browser(), Sandbox.LOOPBACK, "neither DISPLAY nor WAYLAND_DISPLAY"),
      Triple(browser("BROWSER" to "/no/browser"), Sandbox.LOOPBACK, "/no/browser"),
      Triple(browser("BROWSER" to "$failing"), Sandbox.LOOPBACK, "status 3"),
      Triple(browser("BROWSER" to "$failing"), Sandbox.CUSTOM, Sandbox.CUSTOM),
    )) {
      val fault = refused(Status.UNSUPPORTED) { browser.open("https://id.example/", redirect) }
      assertTrue(why in fault.message!! && "Show the URL" in fault.message!!, fault.message)
    }
  }

  @Test
  @DisplayName("a lambda opens the URL, and returns the URL that reached the app or, with a loopback redirect, nothing")
  fun lambdas() = runs {
    val enroll = Backend.LIBRARY.enroll()
    val custom = enroll.open(Sandbox.shared.configuration(), store())
    val returned = custom.signIn { url, redirectUri -> Sandbox.shared.play(url).takeIf { it.startsWith(redirectUri) } }
    assertTrue(returned is State.AwaitingConfirmation)
    val loopback = enroll.open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val listened = loopback.signIn { url, _ ->
      Sandbox.follow(Sandbox.shared.play(url))
      null
    }
    assertTrue(listened is State.AwaitingConfirmation)
  }
}
