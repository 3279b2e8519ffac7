// Fuzz targets for the daemon's input: both framings, and messages. The messages may contain commands that have no
// effect outside the process; their answers are checked, too. The daemon's sources are compiled into this program.

import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollJSON
import EnrollPosix
import Synchronization

extension Target {
  static let daemon = [
    Target("framing") { input in
      // The first byte sets the size of the pieces in which the input arrives. The messages must be the same for every
      // size.
      guard let size = input.first.map({ Int($0 & 63) + 1 }) else { return }
      let stream = Array(input.dropFirst())
      require(
        messages(stream, pieces: size) == messages(stream, pieces: max(stream.count, 1)),
        "pieces do not matter")
    },
    Target("message") { input in
      guard let expected = answersDue(to: input) else { return }
      sent.withLock { $0 = [] }
      server.receive(input)
      let came = sent.withLock { $0 }
      require(came.count == expected, "as many answers as are due")
      for answer in came {
        require((try? JSON.parse(answer.serialized())) == answer, "an answer can be read")
      }
    },
    // Parses the parameters of each command: they must be accepted, or refused with an error. No command runs.
    Target("parameters") { input in
      guard let first = input.first, let value = try? JSON.parse(Array(input.dropFirst())) else { return }
      let command = CommandTable.all[Int(first) % CommandTable.all.count]
      do throws(EnrollError) {
        try command.input.check(value)
        require(value.object != nil, "parameters are an object")
      } catch {
        require(error.code == .invalidArgument, "a typed refusal")
      }
    },
  ]

  private static func messages(_ stream: [UInt8], pieces size: Int) -> [String] {
    var reader = MessageReader()
    var items: [String] = []
    let keep: MessageReader.Handler = { item, framing in items.append("\(framing) \(item)") }
    stream.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: size) {
        reader.read(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + size, bytes.count)]), keep)
      }
    }
    reader.end(keep)
    return items
  }

  private static let sent = Mutex<[JSON]>([])
  private static let server = Server(.none, log: Log(.error)) { answer in sent.withLock { $0.append(answer) }
  }

  /// The number of answers; nil if the message has a command with an effect outside the process.
  private static func answersDue(to message: [UInt8]) -> Int? {
    guard let json = try? JSON.parse(message) else { return 1 }
    guard let items = json.array else { return answersDue(to: json) }
    guard (1...Batch.limit).contains(items.count) else { return 1 }
    var count = 0
    for item in items {
      guard let due = answersDue(to: item) else { return nil }
      count += due
    }
    return min(count, 1)
  }

  private static func answersDue(to json: JSON) -> Int? {
    switch IncomingMessage(json) {
    case .invalid: return 1
    case .response: return 0
    case .request(let id, let method, _):
      if let command = CommandTable.command(method), command.kind != .memory { return nil }
      return id == nil ? 0 : 1
    }
  }
}
