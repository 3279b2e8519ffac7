// Pushed authorization requests (RFC 9126). They are checked when they are pushed. The `request_uri` can be used once,
// within a minute, and only by the client that pushed the request.

import EnrollJSON

/// The parameters of a pushed request.
struct PushedRequest: Sendable {
  var form: Form
  var clientID: String
  var expiresAt: Int64

  static let namePrefix = "urn:ietf:params:oauth:request_uri:"
}

extension Provider {
  func push(_ http: SandboxRequest) -> SandboxAnswer {
    guard options.pushedRequests != .off else {
      return Page.error("There is nothing at \(http.path).", status: 404).answer()
    }
    var answer = pushed(http)
    addNonce(to: &answer)
    return answer
  }

  private func pushed(_ http: SandboxRequest) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      var (form, clientID) = try knownClient(http)
      guard form["request_uri"] == nil else {
        throw .invalidRequest("request_uri is what comes of it (RFC 9126 §2.1)")
      }
      // A DPoP proof has the same effect as the parameter `dpop_jkt` (RFC 9449 §10.1).
      if http.headers["dpop"] != nil, let key = try proof(of: http, at: .pushed)?.thumbprint {
        guard form["dpop_jkt"] ?? key == key else { throw KeyProof.refusal("dpop_jkt is another key's") }
        form.set("dpop_jkt", key)
      }
      try check(form)
      pushedRequests = pushedRequests.filter { $0.value.expiresAt >= now }
      let name = PushedRequest.namePrefix + Encoding.randomToken()
      pushedRequests[name] = PushedRequest(
        form: form, clientID: clientID, expiresAt: now + options.pushedRequestLifetimeSeconds)
      return .json(
        .object([
          ("request_uri", .string(name)), ("expires_in", .integer(options.pushedRequestLifetimeSeconds)),
        ]), status: 201)
    } catch {
      return refused(error)
    }
  }

  /// Checks a pushed request with the same rules as an authorization request in a browser.
  private func check(_ form: Form) throws(OAuthRefusal) {
    do throws(CheckedAuthorization.Refusal) {
      _ = try CheckedAuthorization.read(form, clients: clients)
    } catch {
      switch error {
      case .page(let reason): throw .invalidRequest(reason)
      case .redirect(_, _, let refusal): throw refusal
      }
    }
  }

  /// The authorization request that a browser sent. Its parameters are in the URL, or they are those of a pushed
  /// request, which can then not be used again.
  func authorizationRequest(_ form: Form) throws(CheckedAuthorization.Refusal) -> CheckedAuthorization {
    guard options.pushedRequests != .off, let name = form["request_uri"],
      name.hasPrefix(PushedRequest.namePrefix)
    else {
      let request = try CheckedAuthorization.read(form, clients: clients)
      guard options.pushedRequests != .required || request.clientID == SandboxGateway.clientID else {
        throw .redirect(
          to: request.redirectURI, state: request.state,
          .invalidRequest("only pushed authorization requests are taken"))
      }
      return request
    }
    guard let pushed = pushedRequests.removeValue(forKey: name), pushed.expiresAt >= now else {
      throw .page("The request_uri is not known: it was used before, or its time is over.")
    }
    guard pushed.clientID == form["client_id"] else {
      throw .page("The request_uri is another client's.")
    }
    return try CheckedAuthorization.read(pushed.form, clients: clients)
  }
}
