// A sandbox's data about its clients as JSON, so that another sandbox at the same address can continue with these
// clients. The data are tokens, codes, and sign-ins in progress. Keys, pages and messages are not included.

import EnrollJSON
import Foundation

private struct Memory: Codable {
  var grants: Grants
  var deviceCodes: DeviceCodes
  var otherApp: OtherAppSessions
  var passwordless: Passwordless
  var accounts: [String: SandboxGateway.Account]
  var activations: [String: SandboxGateway.Activation]
}

extension Provider {
  func memory() throws -> JSON {
    let memory = Memory(
      grants: grants, deviceCodes: deviceCodes, otherApp: otherApp, passwordless: passwordless,
      accounts: gateway.accounts, activations: gateway.activations)
    return try JSON.parse(Array(JSONEncoder().encode(memory)))
  }

  /// Replaces the data about clients with the data in the JSON.
  /// - Throws: if the JSON is not a result of ``memory()``; nothing changes then.
  func remember(_ json: JSON) throws {
    let memory = try JSONDecoder().decode(Memory.self, from: Data(json.serialized()))
    grants = memory.grants
    deviceCodes = memory.deviceCodes
    otherApp = memory.otherApp
    passwordless = memory.passwordless
    gateway.accounts = memory.accounts
    gateway.activations = memory.activations
  }
}
