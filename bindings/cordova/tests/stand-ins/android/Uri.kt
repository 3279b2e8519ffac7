package android.net

class Uri(val scheme: String?, val host: String?) {
  companion object {
    fun parse(text: String): Uri = java.net.URI(text).let { Uri(it.scheme, it.host) }
  }
}
