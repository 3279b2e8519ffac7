package org.enrollkit

/** For a JVM of its own: a library is loaded once for all. */
fun main() {
  try {
    Enroll.library()
  } catch (fault: EnrollException) {
    println(fault.message)
  }
}
