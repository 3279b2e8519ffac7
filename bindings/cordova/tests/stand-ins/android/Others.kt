@file:Suppress("UNUSED_PARAMETER")

package org.json

class JSONObject(text: String)
