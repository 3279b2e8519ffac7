// The C functions that call any command by its name, for bindings. Also the C functions that only run one command.

public import CEnroll
import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// A call of a command by name, with its parameters from C.
private struct NamedCall: Sendable {
  var command: String
  var parameters: JSON

  init(
    _ command: TextIn?, _ commandSize: Int, _ parameters: TextIn?, _ parametersSize: Int
  ) throws(EnrollError) {
    self.command = try TextInput(command, commandSize, "command").requiredText(limit: TextLimit.name)
    let text = TextInput(parameters, parametersSize, "parameters")
    guard let bytes = try text.bytes(limit: TextLimit.json) else {
      self.parameters = .object([])
      return
    }
    self.parameters = try JSONInput.parse(bytes, "parameters")
  }

  /// Whether the command needs a client; false for an unknown command.
  var usesClient: Bool { CommandTable.command(command)?.usesClient ?? false }

  func run(
    _ client: Client?, until deadline: Instant, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> [UInt8] {
    try CommandTable.call(
      command, parameters, client: client, deadline: deadline, cancellation: cancellation
    ).serialized()
  }
}

/// Runs a command that needs no client, for a C function whose output is the command's result.
func returningResult(
  _ output: BufferOut?, _ name: String, _ error: ErrorOut?, _ command: String,
  _ parameters: () throws(EnrollError) -> [(String, JSON?)] = { [] }
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(output, name)
    let result = try CommandTable.call(
      command, .object(try parameters()), client: nil, deadline: .distantFuture, cancellation: nil)
    output.pointee = try enroll_buf(result.serialized())
  }
}

@_cdecl("enroll_call") @implementation
public func enroll_call(
  _ client: Handle?, _ command: TextIn?, _ command_size: Int, _ parameters: TextIn?, _ parameters_size: Int,
  _ timeout_ms: Int64, _ result: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(result, "result")
    let handle = client == nil ? nil : try ClientHandle.find(client)
    let call = try NamedCall(command, command_size, parameters, parameters_size)
    let deadline = try ClientHandle.deadline(timeout_ms, of: handle)
    output.pointee = try enroll_buf(try call.run(handle?.client, until: deadline, handle?.closing))
  }
}

@_cdecl("enroll_call_start") @implementation
public func enroll_call_start(
  _ client: Handle?, _ command: TextIn?, _ command_size: Int, _ parameters: TextIn?, _ parameters_size: Int,
  _ timeout_ms: Int64, _ callback: enroll_result_callback?, _ user_data: UserData?, _ pending: HandleOut?,
  _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = client == nil ? nil : try ClientHandle.find(client)
    let host = try HostCallback(callback, user_data)
    let call = try NamedCall(command, command_size, parameters, parameters_size)
    if handle == nil, call.usesClient { throw ClientHandle.unknownHandle }
    let deadline = try ClientHandle.deadline(timeout_ms, of: handle)
    let executor = handle?.executor ?? CallExecutor.clientless.value
    try executor.start(pending) { cancellation throws(EnrollError) in
      // Checked before the command starts: without a client, a running command cannot be cancelled.
      if cancellation.isCancelled { throw EnrollError(.cancelled, "the call was cancelled") }
      return try call.run(handle?.client, until: deadline, cancellation)
    } deliver: { result in
      switch result {
      case .success(let json):
        let text = json.withUnsafeBytes { Buffer($0) }
        host.function(host.userData, ENROLL_OK, text.bytes, text.size, nil)
      case .failure(let failure):
        var error = enroll_error(failure)
        host.function(host.userData, failure.code.rawValue, nil, 0, &error)
      }
    }
  }
}

@_cdecl("enroll_manifest") @implementation
public func enroll_manifest(_ manifest: BufferOut?, _ error: ErrorOut?) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(manifest, "manifest")
    output.pointee = try enroll_buf(Manifest.json.serialized())
  }
}

@_cdecl("enroll_system_describe") @implementation
public func enroll_system_describe(_ description: BufferOut?, _ error: ErrorOut?) -> enroll_status {
  returningResult(description, "description", error, "system.describe")
}

@_cdecl("enroll_redirect_parse") @implementation
public func enroll_redirect_parse(
  _ url: TextIn?, _ url_size: Int, _ redirect: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningResult(redirect, "redirect", error, "redirect.parse") { () throws(EnrollError) in
    [("url", .string(try TextInput(url, url_size, "url").requiredText(limit: TextLimit.url)))]
  }
}

@_cdecl("enroll_redirect_route") @implementation
public func enroll_redirect_route(
  _ configurations: TextIn?, _ configurations_size: Int, _ url: TextIn?, _ url_size: Int,
  _ owner: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningResult(owner, "owner", error, "redirect.route") { () throws(EnrollError) in
    let text = TextInput(configurations, configurations_size, "configurations")
    let list = try JSONInput.parse(try text.requiredBytes(limit: TextLimit.json), "configurations")
    return [
      ("configurations", list),
      ("url", .string(try TextInput(url, url_size, "url").requiredText(limit: TextLimit.url))),
    ]
  }
}

@_cdecl("enroll_link_parse") @implementation
public func enroll_link_parse(
  _ url: TextIn?, _ url_size: Int, _ link: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  returningResult(link, "link", error, "link.parse") { () throws(EnrollError) in
    [("url", .string(try TextInput(url, url_size, "url").requiredText(limit: TextLimit.url)))]
  }
}
