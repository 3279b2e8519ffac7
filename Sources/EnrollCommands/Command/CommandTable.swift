// Every command once, and the generic call for faces that keep their own clients.

public import EnrollCore
public import EnrollHost
public import EnrollJSON
import EnrollPosix

public enum CommandTable {
  /// In the order of the documentation.
  public static let all: [Command] =
    systemCommands + resourceCommands + clientCommands + providerCommands + registrationCommands
    + tokenCommands
    + identityCommands
    + accountCommands + pinCommands + storeCommands + valueCommands + eventCommands

  /// nil for a name that no command has.
  public static func command(_ name: String) -> Command? {
    let mark = mark(of: name)
    for index in marks.indices where marks[index] == mark && ASCII.equals(all[index].name, name) {
      return all[index]
    }
    return nil
  }

  /// Of each command what tells nearly all of them apart at a glance.
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

  /// Runs a command on this thread, for a face that keeps its own clients.
  /// - Parameters:
  ///   - parameters: an object without the member `client`.
  ///   - client: what the command is about; nil for a command that is about none.
  ///   - deadline: the caller's end of waiting, beside the parameter `deadline`.
  ///   - keys: the store's key provider, unless the parameter `keys` names one; nil for a key file.
  ///   - newKeys: the same for the parameter `newKeys`.
  /// - Throws: `.notFound` for an unknown command, `.invalidArgument`, `.handle` without a client where one is needed,
  ///   `.unsupported` for commands that open, close or observe clients, and what the command throws.
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
  /// Runs it on this thread, waiting where it has to.
  func run(_ invocation: Invocation) throws(EnrollError) -> JSON {
    switch body {
    case .direct(let run): return try run(invocation)
    case .parked(let start):
      let done = Event()
      // Not an optional Result: that has two flags side by side, one of them unset after a failure, which are compared as
      // one number; valgrind reports that.
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
