// All commands, and the generic call for interfaces that manage their own clients.

public import EnrollRules
public import EnrollSteps
public import EnrollHost
public import EnrollJSON
import EnrollPosix

public enum CommandTable {
  /// All commands, in the order of the documentation.
  public static let all: [Command] =
    systemCommands + resourceCommands + clientCommands + providerCommands + registrationCommands
    + tokenCommands
    + identityCommands
    + accountCommands + pinCommands + storeCommands + valueCommands + eventCommands

  /// The command of this name; nil if no command has this name.
  public static func command(_ name: String) -> Command? {
    let mark = mark(of: name)
    for index in marks.indices where marks[index] == mark && ASCII.equals(all[index].name, name) {
      return all[index]
    }
    return nil
  }

  /// A number computed from each command's name. Such numbers are fast to compare, and differ for nearly all names.
  private static let marks = all.map { mark(of: $0.name) }

  private static func mark(of name: String) -> Int {
    let bytes = name.utf8.span
    return bytes.isEmpty ? 0 : bytes.count << 16 | Int(bytes[0]) << 8 | Int(bytes[bytes.count - 1])
  }

  /// - Throws: `.notFound`.
  static func required(_ name: String) throws(EnrollError) -> Command {
    guard let command = command(name) else { throw EnrollError(.notFound, "no command has this name") }
    return command
  }

  /// Runs a command on this thread, for an interface that manages its own clients.
  /// - Parameters:
  ///   - parameters: an object without the member `client`.
  ///   - client: the client of the command; nil for a command that needs no client.
  ///   - deadline: the caller's deadline, in addition to the parameter `timeout`.
  ///   - keys: the store's key provider, unless the parameter `keys` names one; nil for a key file.
  ///   - newKeys: the new key provider, unless the parameter `newKeys` names one.
  /// - Throws: `.notFound` for an unknown command; `.invalidArgument`; `.handle` if the command needs a client and
  ///   `client` is nil; `.unsupported` for commands that open, close or observe clients; the errors of the command.
  public static func call(
    _ name: String, _ parameters: JSON, client: Client?, deadline: Instant, cancellation: (any Cancellation)?,
    keys: KeyPlan? = nil, newKeys: KeyPlan? = nil
  ) throws(EnrollError) -> JSON {
    let command = try required(name)
    try command.bareInput.check(parameters)
    return try command.run(
      Invocation(
        parameters: parameters.object ?? JSONObject(), client: command.usesClient ? client : nil,
        deadline: deadline, cancellation: cancellation, keys: keys, newKeys: newKeys))
  }
}

extension Command {
  /// Runs the command on this thread, and waits for its result.
  func run(_ invocation: Invocation) throws(EnrollError) -> JSON {
    switch body {
    case .direct(let run): return try run(invocation)
    case .parked(let start):
      let done = Event()
      // An optional Result would have two flags side by side, one of which is not set after a failure. The program
      // compares both flags as one number, and valgrind reports that. So the value and the failure are two optionals.
      let ending = Guarded<(value: JSON?, failure: EnrollError?)>((nil, nil), by: Mutex())
      start(invocation) { result in
        ending.withLock {
          switch result {
          case .success(let value): $0.value = value
          case .failure(let failure): $0.failure = failure
          }
        }
        done.set()
      }
      done.wait()
      let (value, failure) = ending.withLock { $0 }
      if let failure { throw failure }
      guard let value else { throw EnrollError(.internal, "\(name) completed without a result") }
      return value
    }
  }
}
