// A process that outlives the one that starts it. It has a session of its own, so that no signal to the starter, to its
// process group or from its terminal reaches it, and init waits for it. It is this program's file again and no fork of the
// running process, in which other threads may hold locks. Its input comes through a pipe that ends before it does
// anything else; its answers go through another, whose loss it survives.

import CPosix

package enum DetachedProcess {
  /// In the system's lists of processes.
  private static let name = "enroll"
  /// More than any configuration has.
  private static let longestOrder = 16 << 20
  /// Longer than a renewal takes at most, with its turn, its two tries, a server that demands nonces and a disk that refuses its
  /// tokens. Only a system call or a library that never returns lasts longer.
  private static let longestSeconds: Int32 = 300

  /// The argument of the process that ``start(_:handing:)`` starts, and that calls ``leave(_:)``.
  package static let leaving = "leave"

  /// Starts this program again, which leaves this process and calls ``enter()``.
  /// - Parameter words: the program's name and its arguments; ``leaving`` comes behind them at first.
  /// - Returns: a descriptor that gives what the process says, and ends with it; nil where no process can be made, or none
  ///   that outlives this one: the end of process 1 is the end of all.
  package static func start(_ words: [String], handing order: [UInt8]) -> Int32? {
    guard getpid() != 1 else { return nil }
    var (input, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard enroll_posix_pipe(&input) == 0 else { return nil }
    guard enroll_posix_pipe(&output) == 0 else {
      for end in input { CPosix.close(end) }
      return nil
    }
    var child = pid_t()
    let isStarted = withPointers(words + [leaving]) {
      enroll_posix_start_again($0, input[0], output[1], &child) == 0
    }
    CPosix.close(input[0])
    CPosix.close(output[1])
    let isHanded = isStarted && write(order, to: input[1])
    CPosix.close(input[1])
    // It ends as soon as it has left the rest to its child.
    if isStarted { while waitpid(child, nil, 0) < 0, enroll_posix_errno() == EINTR {} }
    guard isHanded else {
      CPosix.close(output[0])
      return nil
    }
    return output[0]
  }

  /// Ends the conversation, and not the process.
  package static func close(_ descriptor: Int32) { CPosix.close(descriptor) }

  /// Whether process 1 has started this one: as a container's only command, say, whose end is the container's.
  package static var isOfFirst: Bool { getppid() == 1 }

  private static func withPointers<Result>(
    _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
  }

  /// Ends this process, and goes on in one that is init's. To be called before the first thread.
  /// - Parameter words: the program's name and its arguments there.
  /// - Returns: only where no process can be made.
  package static func leave(_ words: [String]) {
    withPointers(words) { enroll_posix_leave($0) }
  }

  /// Takes over in the process that goes on. To be called before the first thread.
  /// - Returns: what the starter handed over, and the descriptor for what is to be said to it; nil where there is nothing to do.
  package static func enter() -> (order: [UInt8], answers: Int32)? {
    // It was run by another name than the program's own.
    enroll_posix_name_process(name)
    // It ends by itself, and soon: a machine or a service that is shut down asks first, and waits.
    for number in [SIGHUP, SIGINT, SIGTERM, SIGPIPE] { enroll_posix_ignore_signal(number) }
    enroll_posix_limit_running_time(longestSeconds)
    guard let order = readToEnd(STDIN_FILENO) else { return nil }
    let answers = enroll_posix_own(STDOUT_FILENO)
    for stream in [STDIN_FILENO, STDERR_FILENO] { CPosix.close(stream) }
    enroll_posix_open_missing_streams()
    return answers < 0 ? nil : (order, answers)
  }

  /// - Returns: false once nobody reads any more.
  @discardableResult
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    PipeSignal.blocked { () throws(Never) in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { CPosix.write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if !waits(for: descriptor, Int16(POLLOUT)) {
          return false
        }
      }
      return true
    }
  }

  /// - Returns: nil for what cannot be read, or is too long.
  private static func readToEnd(_ descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < longestOrder {
      switch piece(of: descriptor) {
      case .bytes(let more): bytes += more
      case .none: _ = waits(for: descriptor, Int16(POLLIN))
      case .end: return bytes
      }
    }
    return nil
  }

  /// The input that can be read now.
  package enum Piece {
    case bytes(ArraySlice<UInt8>)
    case none
    case end
  }

  package static func piece(of descriptor: Int32) -> Piece {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { return .bytes(bytes[..<count]) }
    return count < 0 && [EAGAIN, EINTR].contains(enroll_posix_errno()) ? .none : .end
  }

  /// Called after a read or a write that did nothing.
  /// - Returns: false if it was not for want of data or of room.
  private static func waits(for descriptor: Int32, _ events: Int16) -> Bool {
    guard [EAGAIN, EINTR].contains(enroll_posix_errno()) else { return false }
    var poller = pollfd(fd: descriptor, events: events, revents: 0)
    _ = poll(&poller, 1, -1)
    return true
  }

  /// Waits until there is something to read, or `event` is raised.
  package static func waitForInput(_ descriptor: Int32, or event: EventDescriptor) {
    var pollers = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&pollers, 2, -1)
  }
}
