// Tokens for the next request (flows.md §8). Access tokens are returned, refresh tokens never.

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let tokenCommands = [
    Command(
      parked: "token.access", method: "accessToken",
      "Returns a valid access token, renewed if due. All callers share one renewal.",
      takes: [.targetResource, .targetScope, .minimumLifetime, .timeout], gives: .access,
      fails: CommandErrors(.access, .store), source: "RFC 6749 §6, RFC 8707",
      known: { call in
        guard let client = call.client else { return nil }
        do throws(EnrollError) {
          let token = client.freshAccessToken(
            minimumLifetimeSeconds: call.integer("minimumLifetime") ?? 0, for: try call.audience(client))
          return token.map { AccessOutcome.valid($0).json }
        } catch {
          return nil
        }
      }
    ) { call, completion in
      onClient(call, completion) { client, audience, done in
        client.access(
          minimumLifetimeSeconds: call.integer("minimumLifetime") ?? 0, for: audience,
          until: call.until(client), cancellation: call.cancellation, completion: done)
      }
    },
    Command(
      parked: "token.refresh",
      "Renews the token now, whatever its age, for example after a resource server rejected it. Observes a pause that the provider asked for.",
      takes: [.targetResource, .targetScope, .timeout], gives: .access, fails: CommandErrors(.access, .store),
      source: "RFC 6749 §6, RFC 8707"
    ) { call, completion in
      onClient(call, completion) { client, audience, done in
        client.refresh(
          for: audience, until: call.until(client), cancellation: call.cancellation, completion: done)
      }
    },
    Command(
      parked: "token.rejected", method: "rejected",
      "Reports that a resource server rejected this access token with 401. The token is renewed once. If the session has no refresh token, the outcome is reauthenticate, also of token.access, until a sign-in. If the next token is rejected within a minute, the outcome is rejected: the session goes on, because only that API refuses.",
      takes: [
        .required(
          "accessToken", .text("The rejected token.", maximumBytes: 1 << 20).sensitive),
        .targetResource, .targetScope, .timeout,
      ],
      gives: .access, fails: CommandErrors(.access, .store), source: "RFC 6750 §3.1"
    ) { call, completion in
      onClient(call, completion) { client, audience, done in
        client.rejected(
          Secret(call.text("accessToken") ?? ""), for: audience, until: call.until(client),
          cancellation: call.cancellation,
          completion: done)
      }
    },
    Command(
      "token.list", method: "tokens", .blocking,
      "Lists the stored access tokens, without the tokens themselves: the session's own first, then those for other audiences.",
      gives: .object([
        .required(
          "tokens",
          Schema(
            .list(.keptToken, maximumCount: AudienceTokens.limit + 1), "Empty if no user is signed in."))
      ]),
      fails: CommandErrors(.store), source: "RFC 8707"
    ) { call throws(EnrollError) in
      .object([("tokens", .array(try call.openClient().keptTokens().map { $0.json }))])
    },
    Command(
      "token.revoke", .blocking,
      "Revokes the session's tokens at the provider and erases them here. A revocation that waits for a browser since logout.begin is sent now.",
      takes: [.timeout],
      gives: .object([.providerTold, .notToldReason], "Whether the provider knows of a revocation.").named(
        "Revocation"),
      fails: CommandErrors(.store, .timeout), source: "RFC 7009"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      return try client.revoke(until: call.until(client), cancellation: call.cancellation).json
    },
    Command(
      "token.introspect", .blocking,
      "Asks the provider about one of the session's tokens (RFC 7662), if there is a valid access token.",
      takes: [
        .optional(
          "token",
          .words(
            "TokenKind", Introspection.Subject.allCases.map { $0.rawValue },
            "One of the session's tokens; it is not returned."),
          default: .string(Introspection.Subject.accessToken.rawValue)),
        .timeout,
      ],
      gives: .object(
        [
          .required("active", Schema(.boolean, "Whether the token is active.")),
          .required("claims", .profile.as("The whole response (RFC 7662 §2.2).")),
        ], "The provider's answer about a token."
      ).named("Introspection"),
      fails: CommandErrors(.access, .network, .store, .timeout, also: .notFound, .oauth), source: "RFC 7662"
    ) { call throws(EnrollError) in
      let client = try call.openClient()
      let subject = call.text("token").flatMap { Introspection.Subject(rawValue: $0) } ?? .accessToken
      let told = try client.introspect(
        subject, until: call.until(client), cancellation: call.cancellation)
      return .object([("active", told["active"]), ("claims", .object(told))])
    },
    Command(
      "dpop.proof", method: "dpopProof", .blocking,
      "Makes a proof for one of the host's requests that carries a DPoP token (RFC 9449). Sends nothing.",
      takes: [
        .required("method", .text("The method as sent, such as GET.", maximumBytes: 32)),
        .required(
          "url", .uri("The URL with its path as sent. Its query and fragment are removed.").sensitive),
        .optional(
          "nonce",
          .text(
            "The nonce that the server demanded. By default that server's last nonce.", maximumBytes: 1024)
        ),
        .optional(
          "accessToken",
          .text("The token that the request carries. By default the current one.", maximumBytes: 1 << 20)
            .sensitive),
      ],
      gives: .object([
        .required("proof", .text("The value of the header DPoP.", maximumBytes: 65_536).sensitive)
      ]),
      fails: CommandErrors(.store, also: .illegalState, .reauthenticate), source: "RFC 9449 §4.2, §7, §9"
    ) { call throws(EnrollError) in
      let proof = try call.openClient().dpopProof(
        method: try call.requiredText("method"), url: try call.requiredText("url"),
        nonce: call.text("nonce"), accessToken: call.text("accessToken").map { Secret($0) })
      return .object([("proof", .string(proof))])
    },
  ]

  private static func onClient(
    _ call: Invocation, _ completion: @escaping Command.Completion,
    _ start: (
      Client, TokenAudience?, @escaping @Sendable (Result<AccessOutcome, EnrollError>) -> Void
    ) -> Void
  ) {
    do throws(EnrollError) {
      let client = try call.openClient()
      start(client, try call.audience(client)) { result in
        switch result {
        case .success(let outcome): completion(.success(outcome.json))
        case .failure(let error): completion(.failure(error))
        }
      }
    } catch {
      completion(.failure(error))
    }
  }
}

extension Invocation {
  /// The parameters `resource` and `scope`; nil if both are absent.
  /// - Throws: `.invalidArgument`.
  fileprivate func audience(_ client: Client) throws(EnrollError) -> TokenAudience? {
    guard let scope = parameters["scope"] else {
      guard let resource = text("resource") else { return nil }
      return try client.configuration.audience(resource: resource, scopes: nil)
    }
    return try client.configuration.audience(
      resource: text("resource"), scopes: scope.texts ?? scope.string.map { Scopes.split($0) })
  }
}

extension Schema.Property {
  static let targetResource = Schema.Property.optional(
    "resource",
    .uri(
      "The resource server that the token is for (RFC 8707): an absolute https URL without a fragment. By default the session's own token.",
      maximumBytes: TokenAudience.maximumResourceBytes))
  static let targetScope = Schema.Property.optional(
    "scope",
    Schema(
      .anyOf([
        .text("Separated by spaces.", maximumBytes: TextLimits.scopes),
        Schema(.list(.text("A scope."), maximumCount: Scopes.maximumCount)),
      ]),
      "The scopes that the token should have, out of those that the user granted. By default the session's own token."
    ))
  static let minimumLifetime = Schema.Property.optional(
    "minimumLifetime",
    .seconds(
      0...31_536_000, "How long the token must still live; at most nine tenths of its whole life count."),
    default: .integer(0))
}
