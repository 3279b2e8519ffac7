// Tests of `prompt=consent` with `offline_access` (OpenID Connect Core §11), and scopes that were not granted.

import EnrollRules
import EnrollSteps
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Consent for offline access")
struct OfflineConsentTests {
  private func prompt(_ url: String) -> String? {
    let query = url.split(separator: "?").last.map(String.init) ?? ""
    let pairs = (try? FormEncoding.decode(Array(query.utf8))) ?? []
    return pairs.first { $0.0 == "prompt" }?.1
  }

  /// A provider that grants offline access only after a new consent, and returns the granted scopes.
  private func bench(_ changes: [(String, JSON?)] = []) throws -> Bench {
    let bench = try Bench(changes)
    bench.provider.change {
      ($0.wantsConsent, $0.offlineScopes, $0.scopeSeparator) = (true, ["offline_access"], " ")
    }
    return bench
  }

  @Test("an answer without the refresh token goes on as the same transaction, with prompt=consent")
  func onceMore() throws {
    let bench = try bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(prompt: "login"), cancellation: nil)
    expect(prompt(begun.url), is: "login")
    let first = try engine.signIn.resume(
      bench.provider.signIn(at: begun.url), mayContinueInBrowser: true, cancellation: nil)
    let next = try #require(first.nextURL)
    expect(prompt(next), is: "consent")
    expect(first.transactionID, is: begun.transactionID)
    try expect(engine.transactions.transactionStatus(begun.transactionID), is: .pending)
    #expect(bench.seen.reported.isEmpty)
    let settled = try engine.signIn.resume(
      bench.provider.signIn(at: next), mayContinueInBrowser: true, cancellation: nil)
    expect(settled.nextURL, is: nil)
    #expect(try bench.record.confirmed?.refreshToken != nil)
    // The first tokens are neither kept nor revoked: some providers would end the new tokens, too (R35).
    #expect(bench.provider.revoked.isEmpty)
    try expect(engine.registration.readAccount().renews, is: true)
  }

  @Test(
    "it is remembered: the next request has it at once, also beside login and create, and not beside none")
  func remembered() throws {
    let bench = try bench([("registration", .string("promptCreate"))])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    // A host that cannot open another URL must get a session without renewal.
    guard
      case .succeeded = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
        .ending
    else { throw Unexpected(what: "no session") }
    try expect(engine.registration.readAccount().renews, is: false)
    try expect(engine.registration.readAccount().missingScopes, is: ["offline_access"])
    let other = bench.engine()
    for (options, sent) in [
      (SignInOptions(), "consent"), (SignInOptions(prompt: "login"), "login consent"),
      (SignInOptions(prompt: "none"), "none"), (SignInOptions(kind: .register), "create consent"),
    ] {
      try expect(prompt(other.signIn.begin(options, cancellation: nil).url), is: sent)
    }
    let online = SignInOptions(scopes: ["openid"])
    try expect(prompt(other.signIn.begin(online, cancellation: nil).url), is: nil)
  }

  @Test("where consent brings none either, the session is kept, and consent is not asked for again")
  func useless() throws {
    let bench = try bench()
    bench.provider.change { $0.givesRefreshToken = false }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let first = try engine.signIn.resume(
      bench.provider.signIn(at: begun.url), mayContinueInBrowser: true, cancellation: nil)
    let next = try #require(first.nextURL)
    bench.provider.change { $0.tokens = { $0["scope"] = .string("openid profile") } }
    let second = try engine.signIn.resume(
      bench.provider.signIn(at: next), mayContinueInBrowser: true, cancellation: nil)
    #expect(second.nextURL == nil && engine.state == .active(.confirmed))
    try expect(bench.record.offlineConsent, is: .useless)
    try expect(prompt(engine.signIn.begin(SignInOptions(), cancellation: nil).url), is: nil)
    let again = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let third = try engine.signIn.resume(
      bench.provider.signIn(at: again.url), mayContinueInBrowser: true, cancellation: nil)
    expect(third.nextURL, is: nil)
  }

  @Test("a provider that says that it granted offline_access is not asked again")
  func granted() throws {
    let bench = try Bench([])
    bench.provider.change { ($0.givesRefreshToken, $0.scopeSeparator) = (false, " ") }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let settled = try engine.signIn.resume(
      bench.provider.signIn(at: begun.url), mayContinueInBrowser: true, cancellation: nil)
    #expect(settled.nextURL == nil && engine.state == .active(.confirmed))
  }

  @Test("a provider whose prompt values lack consent is not asked for it")
  func unknown() throws {
    let bench = try bench()
    bench.provider.change {
      $0.metadata = { $0["prompt_values_supported"] = .array([.string("none"), .string("login")]) }
    }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let settled = try engine.signIn.resume(
      bench.provider.signIn(at: begun.url), mayContinueInBrowser: true, cancellation: nil)
    #expect(settled.nextURL == nil && engine.state == .active(.confirmed))
  }

  @Test("node-oidc-provider, known by its endpoints, is asked for it at once")
  func kind() throws {
    let bench = try Bench([])
    bench.provider.change {
      $0.metadata = {
        for (name, path) in [("authorization", "/auth"), ("token", "/token"), ("userinfo", "/me")] {
          $0["\(name)_endpoint"] = .string("https://id.example\(path)")
        }
        $0["jwks_uri"] = .string("https://id.example/jwks")
      }
    }
    try expect(prompt(bench.engine().signIn.begin(SignInOptions(), cancellation: nil).url), is: "consent")
  }

  @Test("a configured prompt=consent stays beside login, where offline_access is asked for")
  func configured() throws {
    let bench = try Bench([("prompt", .string("consent"))])
    let engine = bench.engine()
    let login = SignInOptions(prompt: "login")
    try expect(prompt(engine.signIn.begin(login, cancellation: nil).url), is: "login consent")
    let online = SignInOptions(scopes: ["openid"], prompt: "login")
    try expect(prompt(engine.signIn.begin(online, cancellation: nil).url), is: "login")
  }

  @Test(
    "a redirect that asks for the consent goes on with it, once",
    arguments: [
      ("consent_required", ""), ("invalid_request", "&error_description=Missing%20consent%20in%20prompt"),
    ])
  func refused(error: String, description: String) throws {
    let bench = try Bench([])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let back = bench.provider.refuse(begun.url, error: error) + description
    let next = try #require(
      try engine.signIn.resume(back, mayContinueInBrowser: true, cancellation: nil).nextURL)
    expect(prompt(next), is: "consent")
    let again = bench.provider.refuse(next, error: error) + description
    let settled = try engine.signIn.resume(again, mayContinueInBrowser: true, cancellation: nil)
    #expect(settled.nextURL == nil && engine.state.kind == .registrationFailed)
  }

  // MARK: Scopes that were not granted

  @Test("scopes that were not granted are told once, kept, and read")
  func fewer() throws {
    let bench = try Bench(scopes: ["openid", "email", "notes"])
    bench.provider.change { $0.tokens = { $0["scope"] = .string("email") } }
    let engine = try bench.signedIn()
    let told = bench.seen.warned.filter { $0.message.contains("without notes") }
    expect(told.count, is: 1)
    try expect(engine.registration.readAccount().missingScopes, is: ["notes"])
    try expect(engine.access().token().scopes, is: ["email"])
    let document = AccountDocument(account: .default, lineage: "l", record: try bench.record)
    try expect(AccountDocument(decoding: document.encoded()), is: document)
    bench.provider.change { $0.tokens = { $0["scope"] = .string("email notes") } }
    _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    try expect(engine.registration.readAccount().missingScopes, is: [])
  }

  @Test(
    "a scope counts as granted by what it brings, or by a URL that ends in it",
    arguments: [
      ("openid email", []), ("email", []), ("https://www.example.com/auth/userinfo.email openid", []),
      ("openid https://graph.example.com/Email", []), ("openid offline_access", ["email"]),
      ("openid https://www.example.com/myemail", ["email"]),
    ] as [(String, [String])])
  func spellings(told: String, missing: [String]) throws {
    let bench = try Bench(scopes: ["openid", "email", "offline_access"])
    bench.provider.change { $0.tokens = { $0["scope"] = .string(told) } }
    try expect(bench.signedIn().registration.readAccount().missingScopes, is: missing)
  }

  // MARK: Servers without OpenID Connect

  @Test(
    "metadata of RFC 8414 in which nothing speaks of OpenID Connect: the default scopes leave its out",
    arguments: [
      ([], nil), (["scopes_supported"], "offline_access"), (["subject_types_supported"], "openid profile"),
    ] as [([String], String?)])
  func oauth(members: [String], sent: String?) throws {
    let bench = try Bench([])
    bench.provider.change {
      $0.addresses[.discovery] = "https://id.example/.well-known/oauth-authorization-server"
      $0.metadata = { document in
        for name in ["scopes_supported", "subject_types_supported", "userinfo_endpoint", "jwks_uri"] {
          document[name] = nil
        }
        document["id_token_signing_alg_values_supported"] = nil
        document["jwks_uri"] = sent == "openid profile" ? .string("https://id.example/keys") : nil
        for name in members { document[name] = .array([.string("offline_access")]) }
      }
    }
    let engine = bench.engine()
    let url = try engine.signIn.begin(SignInOptions(), cancellation: nil).url
    let pairs = try FormEncoding.decode(Array((url.split(separator: "?").last.map(String.init) ?? "").utf8))
    let scope = pairs.first { $0.0 == "scope" }?.1
    if let sent { #expect(scope?.hasPrefix(sent) ?? false) } else { expect(scope, is: nil) }
    #expect(pairs.contains { $0.0 == "nonce" } == (sent == "openid profile"))
  }
}
