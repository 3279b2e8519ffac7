// A process that outlives the process that starts it. The new process has its own session, so that it gets no signal
// that is sent to the starter or to the starter's process group, or that comes from the starter's terminal. Its parent
// is init. It runs this program's file again instead of forking the running process, in which other threads may hold
// locks. Its input comes through a pipe, which it reads to the end first. Its answers go through another pipe, and it
// continues if that pipe is closed.

import CPosix

package enum DetachedProcess {
  /// The name in the system's process lists.
  private static let name = "enroll"
  /// The maximum size of the input, in bytes: more than any configuration has.
  private static let inputLimit = 16 << 20
  /// How long the process may run: longer than the longest renewal, which waits for the lock, makes two attempts, and
  /// meets a server that demands nonces and a disk that refuses the tokens. Only a system call or a library that hangs
  /// would take longer.
  private static let runningSecondsLimit: Int32 = 300

  /// The argument of the intermediate process, which ``start(_:input:)`` starts and which calls ``detach(_:)``.
  package static let detachArgument = "leave"

  /// Starts this program again. The new process detaches itself and calls ``begin()``.
  /// - Parameters:
  ///   - words: the program's name and its arguments. ``detachArgument`` is appended for the intermediate process.
  ///   - mayEndWithProcessOne: whether the new process is useful even if this is process 1, with which all other
  ///     processes end. Process 1 then becomes its parent.
  /// - Returns: a descriptor from which to read the output of the new process; nil if no process can be started, or if
  ///   this is process 1 and the new process would not be useful.
  package static func start(
    _ words: [String], input bytes: [UInt8], mayEndWithProcessOne: Bool = false
  ) -> Int32? {
    guard getpid() != 1 || mayEndWithProcessOne else { return nil }
    var (input, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard enroll_posix_pipe(&input) == 0 else { return nil }
    guard enroll_posix_pipe(&output) == 0 else {
      for end in input { CPosix.close(end) }
      return nil
    }
    var child = pid_t()
    let isStarted = withPointers(words + [detachArgument]) {
      enroll_posix_start_again($0, input[0], output[1], &child) == 0
    }
    CPosix.close(input[0])
    CPosix.close(output[1])
    let isWritten = isStarted && write(bytes, to: input[1])
    CPosix.close(input[1])
    // The intermediate process ends as soon as its child runs. Its exit status is not 0 if it could start no child.
    var status: Int32 = 0
    if isStarted { while waitpid(child, &status, 0) < 0, enroll_posix_errno() == EINTR {} }
    guard isWritten, status == 0 else {
      CPosix.close(output[0])
      return nil
    }
    return output[0]
  }

  /// Closes the descriptor from which the output of a process is read. That process continues.
  package static func close(_ descriptor: Int32) { CPosix.close(descriptor) }

  /// Whether process 1 started this process, for example as the only command of a container, which ends with that
  /// command.
  package static var isChildOfProcessOne: Bool { getppid() == 1 }

  /// If this is process 1, lets the system remove each process of which process 1 becomes the parent, as soon as that
  /// process ends. From then on, no exit status of a child can be read.
  package static func reapAsProcessOne() {
    if getpid() == 1 { enroll_posix_ignore_signal(SIGCHLD) }
  }

  private static func withPointers<Result>(
    _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
  }

  /// Ends this process, and continues in a process whose parent is init. Call it before the first thread starts.
  /// - Parameter words: the program's name and its arguments in the new process.
  /// - Returns: only if no process can be started.
  package static func detach(_ words: [String]) {
    withPointers(words) { enroll_posix_leave($0) }
  }

  /// Begins the work of the detached process. Call it before the first thread starts.
  /// - Parameter seconds: how long the process may run; nil for the time of a renewal.
  /// - Returns: the input from the starter, and the descriptor for the answers; nil if the input cannot be read.
  package static func begin(runningSeconds seconds: Int32? = nil) -> (input: [UInt8], answers: Int32)? {
    // Renames the process, because the kernel named it after the path with which it was started.
    enroll_posix_name_process(name)
    // The signals are ignored, because the process ends soon by itself, and a token may be on its way. When a machine
    // or service shuts down, it sends these signals first, and then waits before it kills the process.
    enroll_posix_ignore_ending_signals()
    enroll_posix_limit_running_time(seconds ?? runningSecondsLimit)
    guard let input = readToEnd(STDIN_FILENO) else { return nil }
    let answers = enroll_posix_own(STDOUT_FILENO)
    for stream in [STDIN_FILENO, STDERR_FILENO] { CPosix.close(stream) }
    enroll_posix_open_missing_streams()
    return answers < 0 ? nil : (input, answers)
  }

  /// - Returns: false if the reader has closed the pipe.
  @discardableResult
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    PipeSignal.blocked { () throws(Never) in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { CPosix.write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if !waitUntilReady(descriptor, Int16(POLLOUT)) {
          return false
        }
      }
      return true
    }
  }

  /// - Returns: nil if the input cannot be read, or is too long.
  private static func readToEnd(_ descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < inputLimit {
      switch readChunk(from: descriptor) {
      case .bytes(let more): bytes += more
      case .none: _ = waitUntilReady(descriptor, Int16(POLLIN))
      case .end: return bytes
      }
    }
    return nil
  }

  /// The input that can be read now.
  package enum Chunk {
    case bytes(ArraySlice<UInt8>)
    case none
    case end
  }

  package static func readChunk(from descriptor: Int32) -> Chunk {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { return .bytes(bytes[..<count]) }
    return count < 0 && [EAGAIN, EINTR].contains(enroll_posix_errno()) ? .none : .end
  }

  /// Waits until the descriptor is ready. Call this after a read or write that transferred nothing.
  /// - Returns: false if the call failed for another reason than missing data or space.
  private static func waitUntilReady(_ descriptor: Int32, _ events: Int16) -> Bool {
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
