// A Swing desktop app that signs its user in. EnrollKit's calls suspend; only Swing's own thread changes the window.

import java.awt.Dimension
import java.awt.GridBagLayout
import java.io.File
import javax.swing.JButton
import javax.swing.JFrame
import javax.swing.JPanel
import javax.swing.SwingUtilities
import kotlin.system.exitProcess
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.enrollkit.DesktopBrowser
import org.enrollkit.Enroll
import org.enrollkit.EnrollClient
import org.enrollkit.EnrollException
import org.enrollkit.State
import org.enrollkit.Store

/** The scope for the library's calls, which must not run on Swing's thread. */
private val calls = CoroutineScope(Dispatchers.Default)

/** The window: one button, and a title that names the signed-in user. */
class Window(private val client: EnrollClient) {
  private val button = JButton("Sign in")
  private val frame = JFrame()
  private var isSignedIn = false

  init {
    button.addActionListener {
      button.isEnabled = false
      calls.launch { if (isSignedIn) signOut() else signIn() }
    }
    frame.contentPane = JPanel(GridBagLayout()).apply { add(button) } // in the middle
    frame.preferredSize = Dimension(480, 120)
    frame.defaultCloseOperation = JFrame.EXIT_ON_CLOSE
    frame.rootPane.defaultButton = button
    frame.pack()
    frame.isVisible = true
    calls.launch { guarded { tellWho() } }
  }

  private suspend fun signIn() = guarded {
    val state = client.signIn(DesktopBrowser())
    if (state is State.AwaitingConfirmation) client.registration.confirm(state.transaction)
    tellWho()
  }

  private suspend fun signOut() = guarded {
    client.logout.begin()
    tellWho()
  }

  private suspend fun tellWho() {
    val profile = client.account.read().profile ?: return show("Nobody is signed in", false)
    show("Signed in as ${profile.email ?: "somebody"}", true)
  }

  private suspend fun guarded(body: suspend () -> Unit) = try {
    body()
  } catch (fault: EnrollException) {
    show("${fault.message}", isSignedIn)
  }

  private fun show(title: String, isIn: Boolean) = SwingUtilities.invokeLater {
    isSignedIn = isIn
    frame.title = title
    button.text = if (isIn) "Sign out" else "Sign in"
    button.isEnabled = true
    button.requestFocusInWindow()
  }
}

fun main() {
  try {
    val configuration = File(System.getenv("ENROLL_CONFIG") ?: "Examples/sandbox.json").readText()
    val data = File(System.getenv("XDG_DATA_HOME") ?: "${System.getProperty("user.home")}/.local/share").also { it.mkdirs() }
    val client = runBlocking { Enroll.library().open(configuration, Store.Directory("$data/swing-app-example")) }
    Runtime.getRuntime().addShutdownHook(Thread { client.close() })
    SwingUtilities.invokeLater { Window(client) }
  } catch (fault: Exception) {
    System.err.println("swing-app: ${fault.message}")
    exitProcess(1)
  }
}
