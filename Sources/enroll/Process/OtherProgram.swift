// Replaces this process with another program. A secret is passed in the environment or through a descriptor, never on
// the command line, which every user of the machine can read.

import CPosix
import EnrollPosix

enum OtherProgram {
  /// The signal settings and the limit of core dumps at the start. Written once, before the first thread.
  nonisolated(unsafe) private static var start = enroll_posix_start()

  /// Saves the signal settings and the limit of core dumps with which this process was started, because the other
  /// program must get the same settings and limit. Call this before anything changes them.
  static func noteStart() { enroll_posix_note_start(&start) }

  /// Replaces this process with another program.
  /// - Parameters:
  ///   - words: the program, which is searched in PATH, and its arguments.
  ///   - variables: added to this process's environment; they replace variables of the same names.
  /// - Throws: `.usage` if the program cannot be started. Otherwise this does not return.
  static func become(
    _ words: [String], adding variables: [(name: String, value: String)] = []
  ) throws(Failure) -> Never {
    var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.name)=\($0.value)") }
    var place = enroll_posix_environment()
    while let here = place, let variable = here.pointee {
      // The comparison is by bytes, because a value may begin with a character that combines with the equals sign.
      let text = String(cString: variable)
      if !variables.contains(where: { text.utf8.starts(with: "\($0.name)=".utf8) }) {
        environment.append(strdup(variable))
      }
      place = here + 1
    }
    environment.append(nil)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    let number = enroll_posix_become(arguments, environment, &start)
    for pointer in arguments + environment { free(pointer) }
    throw Failure(
      .usage, "\(Shown.text(words[0])) cannot be started: \(SystemError.message(number))",
      advice: "Name a program that is installed, or give its path.")
  }

  /// A descriptor from which the other program reads this text.
  /// - Throws: `.failed` for text that does not fit into a pipe, and if no descriptor is free.
  static func descriptor(containing text: String) throws(Failure) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard enroll_posix_pipe(&ends) == 0 else {
      throw Failure(.failed, "no pipe could be made: \(SystemError.message(enroll_posix_errno()))")
    }
    defer { for end in ends { close(end) } }
    let bytes = Array(text.utf8)
    guard write(ends[1], bytes, bytes.count) == bytes.count else {
      throw Failure(.failed, "a token of \(bytes.count) bytes is too long to be handed on")
    }
    // A duplicate without close-on-exec, which stays open in the other program.
    let copy = dup(ends[0])
    guard copy >= 0 else {
      throw Failure(.failed, "no descriptor is free: \(SystemError.message(enroll_posix_errno()))")
    }
    return copy
  }
}
