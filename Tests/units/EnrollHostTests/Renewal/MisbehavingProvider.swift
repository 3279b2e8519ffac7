// A token endpoint on the network that rotates refresh tokens and, while a fault is set, answers with the
// fault. It accepts the previous refresh token, too, as providers with a grace period do. An older refresh
// token ends the session.

@testable import EnrollPosix
import EnrollSteps
import EnrollHost
import Foundation
import Testing

/// The token endpoint's faulty answer to one request, in place of a correct answer.
struct ProviderFault: Sendable, CustomTestStringConvertible {
  /// The result for a caller while the fault lasts.
  enum Outcome: Sendable {
    /// A caller gets the token while it is valid, then `expired`.
    case trouble
    /// A caller gets the token while it is valid, then `rejected`.
    case refused
    /// A caller gets the new token: the answer is accepted despite the fault.
    case taken
  }

  var name: String
  var outcome: Outcome
  /// Whether the transport's timeout must pass.
  var isSlow = false
  /// Whether only the refresh token in the answer is usable. The provider then has no grace period: it accepts
  /// no older refresh token.
  var bringsRefreshToken = false
  var script: @Sendable (Visit) -> Void

  var testDescription: String { name }
}

/// A client's connection to a provider with a fault.
struct Visit: Sendable {
  let connection: RawConnection
  fileprivate let provider: MisbehavingProvider

  /// Reads the request and carries it out.
  /// - Returns: the members of the answer.
  func process() -> TokenMembers {
    guard let request = connection.readRequest() else { return TokenMembers([]) }
    return provider.tokens(for: request) ?? TokenMembers([("error", "\"invalid_grant\"")])
  }

  /// A complete response with this body.
  func answer(_ body: String, status: String = "200 OK", headers: String = "") {
    connection.answer(body, status: status, headers: "Content-Type: application/json\r\n\(headers)")
  }
}

/// The members of a token response, with their values as JSON.
struct TokenMembers: Sendable {
  private var members: [(name: String, value: String)]

  init(_ members: [(String, String)]) { self.members = members.map { (name: $0.0, value: $0.1) } }

  func with(_ name: String, _ value: String) -> TokenMembers {
    var copy = without(name)
    copy.members.append((name, value))
    return copy
  }

  func without(_ name: String) -> TokenMembers {
    var copy = self
    copy.members.removeAll { $0.name == name }
    return copy
  }

  /// These members, and one more at the end.
  func repeating(_ name: String, _ value: String) -> TokenMembers {
    var copy = self
    copy.members.append((name, value))
    return copy
  }

  var text: String { "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }
}

final class MisbehavingProvider: Sendable {
  private struct State {
    /// The number of the current refresh token. A session begins with number 1.
    var generation = 1
    var isOver = false
    var hasGrace = true
    var fault: ProviderFault?
    var visits = 0
  }

  private let state = Guarded(State(), by: Mutex())
  private let server: Guarded<RawServer?>

  /// - Parameter listens: if false, every connection is refused until ``listen()``.
  init(listens: Bool = true) throws {
    server = Guarded(nil, by: Mutex())
    let made = try RawServer(listens: listens) { [weak self] in self?.serve($0) }
    server.withLock { $0 = made }
  }

  func listen() throws { try server.withLock { $0 }?.listen() }

  var tokenEndpoint: String { server.withLock { $0 }?.url("/token") ?? "" }

  var port: Int { server.withLock { $0 }?.port ?? 0 }

  /// The number of connections that clients made.
  var visits: Int { state.withLock { $0.visits } }

  /// Whether a revoked refresh token was sent, which would sign the user out.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Sets the fault with which the provider answers from now on; nil for correct answers.
  func misbehave(_ fault: ProviderFault?) {
    state.withLock { state in
      state.fault = fault
      if let fault { state.hasGrace = !fault.bringsRefreshToken }
    }
  }

  static func refreshToken(_ generation: Int) -> String { "refresh-\(generation)" }

  private func serve(_ connection: RawConnection) {
    let fault = state.withLock { state in
      state.visits += 1
      return state.fault
    }
    let visit = Visit(connection: connection, provider: self)
    if let fault { return fault.script(visit) }
    guard let request = connection.readRequest() else { return }
    if let tokens = tokens(for: request) {
      visit.answer(tokens.text, headers: "Connection: close\r\n")
    } else {
      visit.answer(
        "{\"error\":\"invalid_grant\"}", status: "400 Bad Request", headers: "Connection: close\r\n")
    }
  }

  /// The tokens for a refresh token; nil if the refresh token is too old.
  fileprivate func tokens(for request: RawRequest) -> TokenMembers? {
    let form = String(decoding: request.body, as: UTF8.self)
    let name = form.split(separator: "&").first { $0.hasPrefix("refresh_token=") }
    let given = name.flatMap { Int($0.split(separator: "-").last ?? "") } ?? 0
    let generation = state.withLock { state -> Int? in
      let isLast = state.hasGrace && given == state.generation - 1
      guard given == state.generation || isLast, !state.isOver else {
        state.isOver = true
        return nil
      }
      if given == state.generation { state.generation += 1 }
      return state.generation
    }
    return generation.map { generation in
      TokenMembers([
        ("access_token", "\"access-\(generation)\""), ("token_type", "\"Bearer\""), ("expires_in", "3600"),
        ("refresh_token", "\"\(Self.refreshToken(generation))\""),
      ])
    }
  }
}
