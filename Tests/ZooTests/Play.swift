// One provider and one face, played from the first sign-in to the next user's: what comes of each column of the table.

import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Foundation

/// The columns of the table.
enum Column: String, CaseIterable, Sendable {
  case signIn, bare, profile, renewal, logout, device, requests
}

/// The column's cells at one provider.
struct Row: Equatable, Sendable {
  var cells: [Column: String] = [:]
  /// What the library says to a user who tries bare defaults.
  var advice: String?
}

/// A cell that is no "works".
private struct Ended: Error { var cell: String }

struct Play {
  let entry: ZooEntry
  let face: FaceName

  private struct Stage {
    let zoo: ZooProvider
    let clock: FakeClock
    let client: any Face
  }

  private func stage(_ configuration: (ZooProvider) -> JSON) throws -> Stage {
    let clock = FakeClock()
    let zoo = try ZooProvider(entry, registration: Preset.registration(entry.id), clock: clock)
    return Stage(zoo: zoo, clock: clock, client: try face.open(configuration(zoo), zoo, clock))
  }

  func row() -> Row {
    var row = Row()
    let preset = Preset(entry.id)
    row.cells[.bare] = cell(advice: &row.advice) {
      let stage = try stage { preset.bare($0) }
      defer { stage.client.close() }
      try signIn(stage)
      return "works"
    }
    var nothing: String?
    row.cells[.device] = cell(advice: &nothing) { try device(preset) }
    var signedIn: Stage?
    row.cells[.signIn] = cell(advice: &nothing) {
      let stage = try stage { preset.configuration($0) }
      try signIn(stage)
      signedIn = stage
      return "works"
    }
    guard let stage = signedIn else { return row }
    defer { stage.client.close() }
    row.cells[.requests] = "\(stage.zoo.requests.count)"
    row.cells[.profile] = cell(advice: &nothing) { try profile(stage) }
    row.cells[.renewal] = cell(advice: &nothing) { try renewal(stage) }
    row.cells[.logout] = cell(advice: &nothing) { try logout(preset) }
    return row
  }

  private func cell(advice: inout String?, _ body: () throws -> String) -> String {
    do {
      return try body()
    } catch let ended as Ended {
      return ended.cell
    } catch let error as EnrollError {
      advice = error.message
      let detail = error.oauthError ?? error.field
      return "refused: \(error.code.name)" + (detail.map { " \($0)" } ?? "")
    } catch {
      return "failed: \(error)"
    }
  }

  private func signIn(_ stage: Stage, as user: String = "alice") throws {
    let begun = try stage.client.call("registration.begin", [])
    let url = begun["action"]?["url"]?.string ?? ""
    switch stage.zoo.authorize(url, as: user) {
    case .redirect(let back): _ = try stage.client.call("registration.resume", [("url", .string(back))])
    case .stays(let status, let text): throw Ended(cell: "refused: page \(status) \(text)")
    }
  }

  private func profile(_ stage: Stage) throws -> String {
    let claims = try stage.client.call("identity.profile", [])["claims"]
    guard claims?["sub"]?.string == stage.zoo.subject(of: "alice") else { return "another user" }
    let missing = ["name", "email"].filter { claims?[$0]?.string == nil }
    return missing.isEmpty ? "works" : "without \(missing.joined(separator: ", "))"
  }

  /// Three renewals; the answer to the second is lost.
  private func renewal(_ stage: Stage) throws -> String {
    func renew() throws -> String {
      stage.clock.advance(seconds: 200)
      return try stage.client.call("token.refresh", [])["outcome"]?.string ?? ""
    }
    let before = stage.zoo.count(.token)
    let first = try renew()
    guard first == "valid" else {
      return stage.zoo.count(.token) == before ? "none" : "refused: \(first)"
    }
    stage.zoo.next(.token, .answerLost)
    _ = try renew()
    let second = try renew()
    guard second == "valid" else { return "ends with a lost answer" }
    let third = try renew()
    return third == "valid" ? "works" : "third: \(third)"
  }

  /// Out, and the next sign-in is another user's.
  private func logout(_ preset: Preset) throws -> String {
    let stage = try stage { preset.configuration($0) }
    defer { stage.client.close() }
    try signIn(stage)
    if let url = try stage.client.call("logout.begin", [])["url"]?.string {
      switch stage.zoo.visit(url) {
      case .redirect(let back): _ = try stage.client.call("logout.resume", [("url", .string(back))])
      case .stays(200, _): break
      case .stays(let status, let text): return "refused: page \(status) \(text)"
      }
    }
    try signIn(stage, as: "bob")
    let sub = try stage.client.call("identity.profile", [])["claims"]?["sub"]?.string
    return sub == stage.zoo.subject(of: "bob") ? "works" : "the same user again"
  }

  /// Denied once; then pending, too fast, granted.
  private func device(_ preset: Preset) throws -> String {
    let stage = try stage { preset.configuration($0) }
    defer { stage.client.close() }
    let denied: JSON
    do throws(EnrollError) {
      denied = try stage.client.call("registration.begin", [("kind", .string("device"))])
    } catch {
      guard entry.dialect.hasDeviceFlow else { return "none" }
      throw error
    }
    stage.zoo.device(.denied)
    do {
      _ = try settled(stage, denied)
      return "granted although denied"
    } catch let error as EnrollError {
      guard error.code == .accessDenied else { return "denied: \(error.code.name)" }
    }
    let begun = try stage.client.call("registration.begin", [("kind", .string("device"))])
    stage.zoo.device(.pending)
    stage.zoo.next(.token, .proper, .during { stage.zoo.device(.slowDown) })
    stage.zoo.next(.token, .during { stage.zoo.device(.granted) })
    _ = try settled(stage, begun)
    return "works"
  }

  /// Runs the clock until the transaction has an outcome.
  private func settled(_ stage: Stage, _ begun: JSON) throws -> JSON {
    let client = stage.client
    let ended = Guarded<Result<JSON, any Error>?>(nil, by: Mutex())
    let transaction = begun["transaction"]
    Thread.detachNewThread {
      let result = Result {
        try client.call(
          "registration.awaitOutcome", [("transaction", transaction), ("timeout", .integer(3600))])
      }
      ended.withLock { $0 = result }
    }
    while true {
      if let result = ended.withLock({ $0 }) { return try result.get() }
      stage.clock.advance(seconds: 1)
      Thread.sleep(forTimeInterval: 0.002)
    }
  }
}
