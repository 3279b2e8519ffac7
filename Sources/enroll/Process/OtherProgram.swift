// This process becomes another program. A secret goes to it by its environment or by a descriptor, never by its command line,
// which every user of the machine can read.

import CPosix
import EnrollPosix

enum OtherProgram {
  /// Written once, before the first thread.
  nonisolated(unsafe) private static var start = enroll_posix_start()

  /// Notes the signals and the limit that this process was started with: the other program gets them so. To be called before
  /// anything changes them.
  static func noteStart() { enroll_posix_note_start(&start) }

  /// - Parameters:
  ///   - words: the program, looked for in PATH, and its arguments.
  ///   - variables: to be added to this process's environment, in place of those of the same names.
  /// - Throws: `.usage` if it cannot be started. Otherwise it does not return.
  static func become(
    _ words: [String], adding variables: [(name: String, value: String)] = []
  ) throws(Failure) -> Never {
    var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.name)=\($0.value)") }
    var place = enroll_posix_environment()
    while let here = place, let variable = here.pointee {
      // By bytes: a value may begin with a character that joins the equals sign.
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
      .usage, "\(Shown.text(words[0])) cannot be started: \(SystemError.words(number))",
      advice: "Name a program that is installed, or give its path.")
  }

  /// A descriptor from which the program will read these bytes.
  /// - Throws: `.failed` for text that no pipe takes at once, and where there are no descriptors.
  static func descriptor(containing text: String) throws(Failure) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard enroll_posix_pipe(&ends) == 0 else {
      throw Failure(.failed, "no pipe could be made: \(SystemError.words(enroll_posix_errno()))")
    }
    defer { for end in ends { close(end) } }
    let bytes = Array(text.utf8)
    guard write(ends[1], bytes, bytes.count) == bytes.count else {
      throw Failure(.failed, "a token of \(bytes.count) bytes is too long to be handed on")
    }
    // A copy stays open in the other program.
    let copy = dup(ends[0])
    guard copy >= 0 else {
      throw Failure(.failed, "no descriptor is free: \(SystemError.words(enroll_posix_errno()))")
    }
    return copy
  }
}
