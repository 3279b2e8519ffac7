// Plays one provider with one face (interface of EnrollKit), from the first sign-in to the next user's sign-in. This
// gives the result for each column of the table.

import EnrollRules
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Foundation

/// The columns of the table.
enum Column: String, CaseIterable, Sendable {
  case signIn, bare, profile, renewal, logout, device, requests
}

/// The cells of one provider, by column.
struct Row: Equatable, Sendable {
  var cells: [Column: String] = [:]
  /// The advice in the library's error for a bare configuration.
  var advice: String?
}

struct Play {
  let entry: KnownProvider
  let face: FaceName

  private func stage(_ configuration: (FakeProvider) -> JSON) throws -> Stage {
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
    row.cells[.requests] = "\(stage.fake.requests.count)"
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
    guard let subject = claims?["sub"]?.string else { return "no user" }
    guard subject == stage.fake.subject(of: "alice") else { return "another user" }
    let missing = ["name", "email"].filter { claims?[$0]?.string == nil }
    return missing.isEmpty ? "works" : "without \(missing.joined(separator: ", "))"
  }

  /// Renews three times; the answer to the second renewal is lost.
  private func renewal(_ stage: Stage) throws -> String {
    let before = stage.fake.count(.token)
    let first = try stage.renew() ?? ""
    guard first == "valid" else {
      return stage.fake.count(.token) == before ? "none" : "refused: \(first)"
    }
    stage.fake.next(.token, .answerLost)
    _ = try stage.renew() ?? ""
    let second = try stage.renew() ?? ""
    guard second == "valid" else { return "ends with a lost answer" }
    let third = try stage.renew() ?? ""
    return third == "valid" ? "works" : "third: \(third)"
  }

  /// Signs out, and then signs in as another user.
  private func logout(_ preset: Preset) throws -> String {
    let stage = try stage { preset.configuration($0) }
    defer { stage.client.close() }
    try stage.signIn()
    try stage.signOut()
    try stage.signIn(as: "bob")
    guard let sub = try stage.profile()?["sub"]?.string else { return "no user" }
    return sub == stage.fake.subject(of: "bob") ? "works" : "the same user again"
  }

  /// Plays device sign-ins: the user denies the first. For the second, the provider answers that it is pending, then
  /// that the client polls too fast, then the user grants it.
  private func device(_ preset: Preset) throws -> String {
    let stage = try stage { preset.configuration($0) }
    defer { stage.client.close() }
    // The code's lifetime is long, so that the fake clock does not exceed it, however slow the test's threads are.
    stage.fake.deviceCodesLive(seconds: 86_400)
    let denied: JSON
    do throws(EnrollError) {
      denied = try stage.client.call("registration.begin", [("kind", .string("device"))])
    } catch {
      guard entry.dialect.hasDeviceFlow else { return "none" }
      throw error
    }
    stage.fake.device(.denied)
    do {
      _ = try stage.settled(denied)
      return "granted although denied"
    } catch let error as EnrollError {
      guard error.code == .accessDenied else { return "denied: \(error.code.name)" }
    }
    let begun = try stage.client.call("registration.begin", [("kind", .string("device"))])
    stage.fake.device(.pending)
    stage.fake.next(.token, .proper, .during { stage.fake.device(.slowDown) })
    stage.fake.next(.token, .during { stage.fake.device(.granted) })
    _ = try stage.settled(begun)
    return "works"
  }
}
