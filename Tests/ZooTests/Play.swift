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

struct Play {
  let entry: ZooEntry
  let face: FaceName

  private func stage(_ configuration: (ZooProvider) -> JSON) throws -> Stage {
    try Stage(entry, face, [], configuration)
  }

  func row() -> Row {
    var row = Row()
    let preset = Preset(entry.id)
    row.cells[.bare] = cell(advice: &row.advice) {
      let stage = try stage { preset.bare($0) }
      defer { stage.client.close() }
      try stage.signIn()
      return "works"
    }
    var nothing: String?
    row.cells[.device] = cell(advice: &nothing) { try device(preset) }
    var signedIn: Stage?
    row.cells[.signIn] = cell(advice: &nothing) {
      let stage = try stage { preset.configuration($0) }
      try stage.signIn()
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
    } catch let ended as Stage.Stays {
      return "refused: \(ended.page)"
    } catch let error as EnrollError {
      advice = error.message
      let detail = error.oauthError ?? error.field
      return "refused: \(error.code.name)" + (detail.map { " \($0)" } ?? "")
    } catch {
      return "failed: \(error)"
    }
  }

  private func profile(_ stage: Stage) throws -> String {
    let claims = try stage.profile()
    guard claims?["sub"]?.string == stage.zoo.subject(of: "alice") else { return "another user" }
    let missing = ["name", "email"].filter { claims?[$0]?.string == nil }
    return missing.isEmpty ? "works" : "without \(missing.joined(separator: ", "))"
  }

  /// Three renewals; the answer to the second is lost.
  private func renewal(_ stage: Stage) throws -> String {
    let before = stage.zoo.count(.token)
    let first = try stage.renew() ?? ""
    guard first == "valid" else {
      return stage.zoo.count(.token) == before ? "none" : "refused: \(first)"
    }
    stage.zoo.next(.token, .answerLost)
    _ = try stage.renew() ?? ""
    let second = try stage.renew() ?? ""
    guard second == "valid" else { return "ends with a lost answer" }
    let third = try stage.renew() ?? ""
    return third == "valid" ? "works" : "third: \(third)"
  }

  /// Out, and the next sign-in is another user's.
  private func logout(_ preset: Preset) throws -> String {
    let stage = try stage { preset.configuration($0) }
    defer { stage.client.close() }
    try stage.signIn()
    try stage.signOut()
    try stage.signIn(as: "bob")
    let sub = try stage.profile()?["sub"]?.string
    return sub == stage.zoo.subject(of: "bob") ? "works" : "the same user again"
  }

  /// Denied once; then pending, too fast, granted.
  private func device(_ preset: Preset) throws -> String {
    let stage = try stage { preset.configuration($0) }
    defer { stage.client.close() }
    // Long: however slowly the threads of a test get on, the clock must not overtake them.
    stage.zoo.deviceCodesLive(seconds: 86_400)
    let denied: JSON
    do throws(EnrollError) {
      denied = try stage.client.call("registration.begin", [("kind", .string("device"))])
    } catch {
      guard entry.dialect.hasDeviceFlow else { return "none" }
      throw error
    }
    stage.zoo.device(.denied)
    do {
      _ = try stage.settled(denied)
      return "granted although denied"
    } catch let error as EnrollError {
      guard error.code == .accessDenied else { return "denied: \(error.code.name)" }
    }
    let begun = try stage.client.call("registration.begin", [("kind", .string("device"))])
    stage.zoo.device(.pending)
    stage.zoo.next(.token, .proper, .during { stage.zoo.device(.slowDown) })
    stage.zoo.next(.token, .during { stage.zoo.device(.granted) })
    _ = try stage.settled(begun)
    return "works"
  }
}
