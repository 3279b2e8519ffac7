// A token endpoint on the wire that rotates refresh tokens and, while a fault is planned, answers as the fault says. It takes
// the refresh token before the current one, too, as providers with a grace do; an older one ends the session.

@testable import EnrollPosix
import EnrollCore
import EnrollHost
import Foundation
import Testing

/// What one request to the token endpoint gets instead of a proper answer.
struct ProviderFault: Sendable, CustomTestStringConvertible {
  /// What a caller gets while it lasts.
  enum Outcome: Sendable {
    /// The token while it lives, else `expired`.
    case trouble
    /// The token while it lives, else `rejected`.
    case refused
    /// The new token: there is nothing wrong with it.
    case taken
  }

  var name: String
  var outcome: Outcome
  /// The transport's time limit has to pass.
  var isSlow = false
  /// What comes is of no use but for its refresh token, and the provider takes no other: without grace.
  var bringsRefreshToken = false
  var script: @Sendable (Visit) -> Void

  var testDescription: String { name }
}

/// One connection of a client to a provider with a fault.
struct Visit: Sendable {
  let connection: RawConnection
  fileprivate let provider: MisbehavingProvider

  /// Reads the request, and lets it take effect.
  /// - Returns: the members of the answer.
  func process() -> TokenMembers {
    guard let request = connection.readRequest() else { return TokenMembers([]) }
    return provider.tokens(for: request) ?? TokenMembers([("error", "\"invalid_grant\"")])
  }

  /// A complete answer of that body, whatever it is.
  func answer(_ body: String, status: String = "200 OK", headers: String = "") {
    connection.answer(body, status: status, headers: "Content-Type: application/json\r\n\(headers)")
  }
}

/// The members of a token response, their values as JSON.
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

  /// Once more, after those that are there.
  func repeating(_ name: String, _ value: String) -> TokenMembers {
    var copy = self
    copy.members.append((name, value))
    return copy
  }

  var text: String { "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }
}

final class MisbehavingProvider: Sendable {
  private struct State {
    /// Of the current refresh token; the session has it to begin with.
    var generation = 1
    var isOver = false
    var hasGrace = true
    var fault: ProviderFault?
    var visits = 0
  }

  private let state = Guarded(State(), by: Mutex())
  private let server: Guarded<RawServer?>

  /// - Parameter listens: false refuses every connection until ``listen()``.
  init(listens: Bool = true) throws {
    server = Guarded(nil, by: Mutex())
    let made = try RawServer(listens: listens) { [weak self] in self?.serve($0) }
    server.withLock { $0 = made }
  }

  func listen() throws { try server.withLock { $0 }?.listen() }

  var tokenEndpoint: String { server.withLock { $0 }?.url("/token") ?? "" }

  var port: Int { server.withLock { $0 }?.port ?? 0 }

  /// Connections that clients made.
  var visits: Int { state.withLock { $0.visits } }

  /// A refresh token was sent that it had taken back: what signs people out.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// From now on; nil: it behaves.
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

  /// nil for a refresh token that is too old.
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
