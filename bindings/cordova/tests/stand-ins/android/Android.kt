// The part of Android that the plugin uses, so that the plugin compiles against the Kotlin binding.

package android.content

import android.net.Uri
import java.io.File

open class ActivityNotFoundException : RuntimeException()

open class Context {
  open val noBackupFilesDir: File get() = File("/")
}

open class Intent() {
  constructor(action: String, uri: Uri) : this() {
    this.action = action
    data = uri
  }

  var action: String? = null
  var data: Uri? = null
  val dataString: String? get() = data?.toString()

  fun addCategory(@Suppress("UNUSED_PARAMETER") category: String): Intent = this

  companion object {
    const val ACTION_VIEW = "android.intent.action.VIEW"
    const val CATEGORY_BROWSABLE = "android.intent.category.BROWSABLE"
  }
}
