// Makes the configuration for a resource. The functions need no client.

public import CEnroll
import EnrollCommands
import EnrollRules
import EnrollJSON

/// Runs a command whose parameters are a JSON object.
private func answer(
  _ command: String, _ parameters: TextIn?, _ size: Int, _ timeout: Int64, to output: BufferOut?,
  _ name: String, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(output, name)
    let bytes = try TextInput(parameters, size, "parameters").requiredBytes(limit: TextLimit.json)
    let result = try CommandTable.call(
      command, try JSONInput.parse(bytes, "parameters"), client: nil,
      deadline: try ClientHandle.deadline(timeout, of: nil), cancellation: nil)
    output.pointee = try enroll_buf(result.serialized())
  }
}

@_cdecl("enroll_resource_discover") @implementation
public func enroll_resource_discover(
  _ parameters: TextIn?, _ parameters_size: Int, _ timeout_ms: Int64, _ discovery: BufferOut?,
  _ error: ErrorOut?
) -> enroll_status {
  answer("resource.discover", parameters, parameters_size, timeout_ms, to: discovery, "discovery", error)
}

@_cdecl("enroll_resource_register") @implementation
public func enroll_resource_register(
  _ parameters: TextIn?, _ parameters_size: Int, _ timeout_ms: Int64, _ client: BufferOut?,
  _ error: ErrorOut?
) -> enroll_status {
  answer("resource.register", parameters, parameters_size, timeout_ms, to: client, "client", error)
}
