// Requests that a provider of the zoo refuses, and the shape in which it says so.

import EnrollCore
import EnrollJSON

/// An error of a token endpoint or its like.
struct Refusal {
  var status: Int
  var error: String
  var description: String?

  init(_ status: Int, _ error: String, _ description: String? = nil) {
    self.status = status
    self.error = error
    self.description = description
  }
}

extension ZooProvider {
  /// What stands against a request to the token endpoint, beside what it asks for.
  func refusal(_ request: HTTPRequest, _ form: [String: String]) -> Refusal? {
    let rule: Dialect.Client.Secret =
      switch form["grant_type"] {
      case "refresh_token": dialect.client.refresh
      case "urn:ietf:params:oauth:grant-type:device_code": dialect.client.device
      default: dialect.client.code
      }
    if let refusal = secretRefusal(request, form, rule) { return refusal }
    guard form["client_id"] == registration.clientID else { return Refusal(401, "invalid_client") }
    if dialect.client.pkce == .refused, form["code_verifier"] != nil {
      return Refusal(401, "invalid_client", "code_verifier is not expected")
    }
    return nil
  }

  private func secretRefusal(
    _ request: HTTPRequest, _ form: [String: String], _ rule: Dialect.Client.Secret
  ) -> Refusal? {
    let basic = basicCredentials(request)
    let given = form["client_secret"] ?? basic.flatMap { $0.count == 2 ? $0[1] : nil }
    switch rule {
    case .none: return nil
    case .refused:
      return given == nil ? nil : Refusal(401, "invalid_client", "a public client sends no secret")
    case .requiredUnlessDevice:
      if state.withLock({ $0.deviceTokens.contains(form["refresh_token"] ?? "") }) { return nil }
      fallthrough
    case .required:
      guard let given else { return Refusal(400, "invalid_request", "client_secret is missing.") }
      let method = basic == nil ? "client_secret_post" : "client_secret_basic"
      guard given == registration.secret, dialect.client.methods.contains(method) else {
        return Refusal(401, "invalid_client", "the client secret is wrong")
      }
      return nil
    }
  }

  /// The answer with a refusal, as the dialect has it.
  func refused(_ refusal: Refusal, _ form: [String: String]) -> HTTPResponse {
    var refusal = refusal
    let rules = (dialect.refresh, dialect.device)
    if form["grant_type"] == "refresh_token", refusal.error == "invalid_grant" {
      refusal.error = rules.0.error ?? refusal.error
      refusal.description = rules.0.errorDescription ?? refusal.description
      refusal.status = rules.0.errorStatus.map { Int($0) } ?? refusal.status
    }
    if let status = dialect.token.errorStatus { refusal.status = Int(status) }
    var members: [(String, JSON?)] = []
    switch refusal.error {
    case "authorization_pending": refusal.status = rules.1.pendingStatus.map { Int($0) } ?? refusal.status
    case "slow_down":
      refusal.status = rules.1.slowDownStatus.map { Int($0) } ?? refusal.status
      if rules.1.bringsInterval { members.append(("interval", .integer(10))) }
    default: break
    }
    if let shape = dialect.token.errorShape { return json(refusal.status, Self.fill(shape, refusal)) }
    members =
      [
        ("error", .string(refusal.error)),
        ("error_description", refusal.description.map { .string($0) }),
      ] + members
    return json(refusal.status, .object(members))
  }

  private static func fill(_ shape: JSON, _ refusal: Refusal) -> JSON {
    switch shape {
    case .object(let object): .object(object.members.map { ($0.key, fill($0.value, refusal)) })
    case .string("<error>"): .string(refusal.error)
    case .string("<error_description>"): .string(refusal.description ?? refusal.error)
    default: shape
    }
  }

  /// Device authorization, pushed requests and revocation.
  func sendOther(
    _ role: Role, _ request: HTTPRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    let form = form(request)
    if role == .pushed, dialect.par.publicClient == .refused {
      return json(401, .object([("error", .string("invalid_client"))]))
    }
    if role == .revocation, dialect.revocation.publicClient == .refused {
      return json(401, .object([("error", .string("invalid_client"))]))
    }
    if role == .device, let scope = refusedScope(form["scope"] ?? "") {
      return json(
        400,
        .object([
          ("error", .string("invalid_scope")), ("error_description", .string("scope \(scope) is unknown")),
        ]))
    }
    if role == .device {
      state.withLock { $0.scopes = (form["scope"] ?? "").split(separator: " ").map(String.init) }
    }
    return try fake.send(request, cancellation: cancellation)
  }

  /// A scope that the provider does not know, or lacks.
  func refusedScope(_ text: String) -> String? {
    let scopes = text.split(separator: " ").map(String.init)
    if dialect.scope.needsOpenID, !scopes.contains("openid") { return "openid" }
    return scopes.first {
      dialect.scope.refused.contains($0) || !(dialect.scope.accepted?.contains($0) ?? true)
    }
  }
}
