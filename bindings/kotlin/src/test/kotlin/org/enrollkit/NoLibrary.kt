package org.enrollkit

/** This runs in a separate JVM, because a library stays loaded for the whole process. */
fun main() {
  try {
    Enroll.library()
  } catch (fault: EnrollException) {
    println(fault.message)
  }
}
