// Asks the provider about a token of the session (RFC 7662).

public import EnrollJSON
public import EnrollRules

/// Asks the provider about the session's tokens.
public final class IntrospectionStep: EngineStep {
  let context: EngineContext
  private let requests: ClientRequests
  private let access: AccessStep

  init(_ context: EngineContext, requests: ClientRequests, access: AccessStep) {
    self.context = context
    self.requests = requests
    self.access = access
  }

  /// The provider's response about one of the session's tokens; the token itself is not returned.
  /// - Throws: as ``AccessStep/livingTokens()``; `.notFound` if the session has no such token; `.unsupported` if the
  ///   provider has no introspection endpoint, and for a back end's session token; `.oauth` if the provider does not
  ///   answer this client.
  public func introspect(
    _ subject: Introspection.Subject, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject {
    let (_, tokens) = try access.livingTokens()
    // A back end's session token has no meaning for the issuer, and must not be sent to the issuer.
    guard tokens.source == .issuer,
      let endpoint = try provider.metadata(cancellation: cancellation).introspectionEndpoint
    else { throw EnrollError(.unsupported, "the provider announces no introspection endpoint") }
    guard let token = subject == .accessToken ? tokens.accessToken : tokens.refreshToken else {
      throw EnrollError(.notFound, "the provider gave no refresh token", field: "token")
    }
    let metadata = try provider.metadata(cancellation: cancellation)
    let secrets = SentSecrets(of: tokens)
    do throws(EnrollError) {
      let answer = secrets.hidden(
        in: try Introspection.accept(
          requests.sendAsClient(
            Introspection.request(endpoint: endpoint, token: token, subject: subject),
            to: .introspection, of: metadata, cancellation: cancellation)))
      if answer["active"]?.bool == false { warn(.inactive(subject)) }
      return answer
    } catch {
      guard error.wantsAccessToken, context.isPublicClient else { throw error }
    }
    let shown = Introspection.request(endpoint: endpoint, token: token, subject: subject, showing: tokens)
    do throws(EnrollError) {
      return secrets.hidden(
        in: try Introspection.accept(
          requests.send(
            ClientAuthentication(naming: configuration.clientID).adding(to: shown), provenBy: tokens.proofKey,
            accessToken: tokens.accessToken, cancellation: cancellation)))
    } catch {
      guard error.wantsAccessToken else { throw error }
      throw error.saying(
        "\(error.message). Many providers answer introspection requests of clients with a secret only: let the API that receives "
          + "the token ask, with a client of its own")
    }
  }
}
