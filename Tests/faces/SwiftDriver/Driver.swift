// The Swift face as a process: one command per line on stdin (`registration.begin {"kind":"signIn"}`), one
// answer per line on stdout (`ok {…}` or `error {…}`), in the order of the commands. It is for the tests
// against real providers, which use the same commands for all three faces.

import EnrollKit
import Foundation

@main
struct Driver {
  static func main() async {
    let driver = Driver()
    var last: Task<Void, Never>?
    let session = ClientBox()
    for await line in lines() {
      let before = last
      let (command, parameters) = driver.split(line)
      // Commands run concurrently, and their answers are printed in order.
      let work = Task { await driver.answer(command, parameters, session) }
      if command == "client.open" { _ = await work.value }
      last = Task {
        await before?.value
        FileHandle.standardOutput.write(Data((await work.value + "\n").utf8))
      }
    }
    await last?.value
  }

  /// The lines of stdin. They are read on a separate thread, because a read that blocks would stop the tasks.
  private static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }.start()
    }
  }

  private func split(_ line: String) -> (String, JSON) {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    let parameters = parts.count > 1 ? try? JSON.parse(Array(parts[1].utf8)) : nil
    return (parts.first ?? "", parameters ?? .object([]))
  }

  private func answer(_ command: String, _ parameters: JSON, _ box: ClientBox) async -> String {
    do throws(EnrollError) {
      let result = try await run(command, parameters, box)
      return "ok " + String(decoding: result.serialized(), as: UTF8.self)
    } catch {
      return "error " + String(decoding: error.json.serialized(), as: UTF8.self)
    }
  }

  private func run(_ command: String, _ parameters: JSON, _ box: ClientBox) async throws(EnrollError) -> JSON
  {
    if command == "client.open" {
      try box.open(parameters)
      return .object([])
    }
    if command == "redirect.route" { return try route(parameters) }
    if command == "resource.discover" { return try await ResourceCommands.discover(parameters) }
    if command == "resource.register" { return try await ResourceCommands.register(parameters) }
    let client = try box.client()
    let url = parameters["url"]?.string ?? ""
    let transaction = parameters["transaction"]?.string.map { TransactionID($0) }
    switch command {
    case "registration.state":
      return state(try await client.state(wait: parameters["wait"]?.bool ?? false))
    case "registration.begin":
      return try await client.begin(try SignInOptions(json: parameters)).json
    case "registration.resume":
      return state(try await client.resume(url, transactionID: transaction))
    case "registration.awaitOutcome":
      let timeout = Duration.seconds(parameters["timeout"]?.integer ?? 60)
      return state(
        try await client.awaitOutcome(of: transaction ?? "", timeout: timeout))
    case "registration.otherAppMissing":
      return state(try await client.otherAppMissing(transaction ?? ""))
    case "registration.handleLink":
      return try await client.handleLink(url).json
    case "registration.cancel":
      guard let id = transaction else { return state(try await client.cancel()) }
      return state(try await client.cancel(id))
    case "url.handle":
      switch try await client.handle(url) {
      case .registration(let registration):
        return .object([("kind", .string("registration")), ("state", registration.json)])
      case .logoutFinished: return .object([("kind", .string("logout"))])
      case .begun(let begun):
        return HandledLink.begun(begun).json
      case .refused(let refusal): return HandledLink.refused(refusal).json
      case .unsolicited: return .object([("kind", .string("unsolicited"))])
      }
    case "registration.submitCode":
      return state(
        try await client.submitCode(
          parameters["code"]?.string ?? "", of: transaction ?? ""))
    case "registration.confirm": return state(try await client.confirm(transaction))
    case "registration.retry": return state(try await client.retry(transaction))
    case "registration.clear": return state(try await client.clear())
    case "registration.deregister":
      var answer = try await client.deregister().json.object ?? JSONObject()
      answer["state"] = try await client.state().json
      return .object(answer)
    case "installation.reset":
      try await client.resetInstallation()
      return .object([])
    case "platform.ready":
      client.platformReady()
      return .object([])
    case "account.read": return try await client.account().json
    case "token.access":
      return try await client.access(
        minimumLifetime: .seconds(parameters["minimumLifetime"]?.integer ?? 0),
        resource: parameters["resource"]?.string, scope: parameters.scope
      ).json
    case "token.refresh":
      do throws(EnrollError) {
        return try await client.refresh(resource: parameters["resource"]?.string, scope: parameters.scope)
          .json
      } catch {
        // The C library and the daemon return this outcome as a result, so this driver does the same.
        guard AccessOutcome.Kind.allCases.contains(where: { $0.status == error.code }) else { throw error }
        return .object([
          ("outcome", .string(error.code.name)), ("reason", .string(error.oauthError ?? error.message)),
          ("error", error.json),
        ])
      }
    case "token.list": return .object([("tokens", .array(try await client.tokens().map { $0.json }))])
    case "token.revoke":
      return try await client.revoke().json
    case "token.introspect":
      let told = try await client.introspect(
        Introspection.Subject(rawValue: parameters["token"]?.string ?? "") ?? .accessToken)
      return .object([("active", told["active"]), ("claims", .object(told))])
    case "dpop.proof":
      let proof = try await client.dpopProof(
        method: parameters["method"]?.string ?? "", url: url, nonce: parameters["nonce"]?.string,
        accessToken: parameters["accessToken"]?.string.map { Secret($0) })
      return .object([("proof", .string(proof))])
    case "identity.profile": return .object([("claims", .object(try await client.profile()))])
    case "identity.userinfo": return .object([("claims", .object(try await client.userinfo()))])
    case "diagnostics.export":
      return .object([("diagnostics", .object(try await client.diagnostics()))])
    case "pin.set":
      try await client.setPIN(pin(parameters))
      return .object([])
    case "pin.unlock": return try await client.unlock(pin: pin(parameters)).json
    case "pin.change": return try await client.changePIN(pin(parameters), to: pin(parameters, "newPin")).json
    case "pin.remove": return try await client.removePIN(pin(parameters)).json
    case "logout.begin":
      return try await client.logout(localOnly: parameters["localOnly"]?.bool ?? false).json
    case "logout.resume":
      try await client.finishLogout(url)
      return .object([("done", .bool(true))])
    default: throw EnrollError(.notFound, "the driver has no command \(command)")
    }
  }

  private func route(_ parameters: JSON) throws(EnrollError) -> JSON {
    var configurations: [Configuration] = []
    for json in parameters["configurations"]?.array ?? [] {
      configurations.append(try Configuration(json: json))
    }
    let owner = try Configuration.owner(of: parameters["url"]?.string ?? "", among: configurations)
    return .object([
      ("index", owner.map { .integer(Int64($0.index)) }),
      ("kind", owner.map { .string($0.ownership.rawValue) }),
    ])
  }

  private func pin(_ parameters: JSON, _ name: String = "pin") -> Secret {
    Secret(parameters[name]?.string ?? "")
  }

  private func state(_ state: RegistrationState) -> JSON { .object([("state", state.json)]) }
}
