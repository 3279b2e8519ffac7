// cordova-android 14: CordovaPlugin, CallbackContext, PluginResult.
@file:Suppress("UNUSED_PARAMETER")

package org.apache.cordova

import android.content.Context
import android.content.Intent
import org.json.JSONObject

open class Activity : Context() {
  val intent: Intent? = null

  fun startActivity(intent: Intent) = Unit
}

interface CordovaInterface {
  val activity: Activity
  val context: Context
}

open class CordovaPlugin {
  lateinit var cordova: CordovaInterface

  open fun pluginInitialize() = Unit

  open fun onNewIntent(intent: Intent) = Unit

  open fun onReset() = Unit

  open fun onDestroy() = Unit

  open fun execute(action: String, rawArgs: String, callbackContext: CallbackContext): Boolean = false
}

class CallbackContext {
  fun success() = Unit

  fun success(message: JSONObject) = Unit

  fun error(message: JSONObject) = Unit

  fun sendPluginResult(result: PluginResult) = Unit
}

class PluginResult(status: Status, message: JSONObject) {
  enum class Status { OK, ERROR }

  var keepCallback = false
}
