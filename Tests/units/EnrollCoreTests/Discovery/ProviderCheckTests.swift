import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("What a provider's announcements say before anybody signs in")
struct ProviderCheckTests {
  private func check(
    _ configuration: [(String, JSON?)] = [],
    _ metadata: @escaping @Sendable (inout JSONObject) -> Void = { _ in }
  ) throws -> (ProviderCheck, Bench) {
    let bench = try Bench(configuration)
    bench.provider.change { $0.metadata = metadata }
    return (try bench.engine().providerCheck.checkProvider(cancellation: nil), bench)
  }

  private func verdicts(
    _ check: ProviderCheck, _ subject: ProviderFinding.Subject
  ) -> [ProviderFinding.Verdict] {
    check.findings.filter { $0.subject == subject }.map(\.verdict)
  }

  @Test("a provider that has everything: every subject works, and no token is asked for")
  func whole() throws {
    let (check, bench) = try check()
    #expect(check.findings.allSatisfy { $0.verdict == .works && $0.advice == nil })
    expect(Set(check.findings.map(\.subject)), is: Set(ProviderFinding.Subject.allCases))
    #expect(
      check.findings[0].text.hasSuffix("only a sign-in shows whether client id and redirect URI are right"))
    expect(check.preset, is: nil)
    #expect(bench.provider.count(.token) == 0 && bench.provider.count(.pushed) == 0)
    #expect(bench.provider.count(.discovery) == 1 && bench.provider.count(.keys) == 1)
  }

  typealias Subject = ProviderFinding.Subject
  typealias Verdict = ProviderFinding.Verdict

  @Test("a member that is missing or different has its finding, with the key that helps")
  func findings() throws {
    let cases: [([(String, JSON?)], @Sendable (inout JSONObject) -> Void, Subject, Verdict, String?)] = [
      ([], { $0["token_endpoint"] = nil }, .signIn, .fails, "token_endpoint"),
      ([], { $0["issuer"] = .string("https://id.example/") }, .signIn, .fails, "issuer"),
      (
        [], { $0["id_token_signing_alg_values_supported"] = .array([.string("HS256")]) }, .signIn, .fails,
        "idTokenAlgorithms"
      ),
      (
        [("clientSecret", .string("s"))],
        { $0["token_endpoint_auth_methods_supported"] = .array([.string("private_key_jwt")]) }, .signIn,
        .fails, "clientSecret"
      ),
      (
        [("pushedRequests", .string("never"))], { $0["require_pushed_authorization_requests"] = .bool(true) },
        .signIn, .fails, "pushedRequests"
      ),
      ([("pushedRequests", .string("always"))], { _ in }, .signIn, .fails, "pushedRequests"),
      ([], { $0["require_pushed_authorization_requests"] = .bool(true) }, .signIn, .fails, "endpoints"),
      ([("dpop", .string("always"))], { _ in }, .signIn, .fails, "dpop"),
      (
        [("prompt", .string("create"))], { $0["prompt_values_supported"] = .array([.string("login")]) },
        .signIn,
        .fails, "prompt"
      ),
      ([], { $0["response_types_supported"] = .array([.string("token")]) }, .signIn, .fails, nil),
      ([], { $0["response_modes_supported"] = .array([.string("form_post")]) }, .signIn, .fails, nil),
      ([], { $0["grant_types_supported"] = .array([.string("implicit")]) }, .signIn, .fails, nil),
      ([], { $0["require_signed_request_object"] = .bool(true) }, .signIn, .fails, nil),
      ([("idTokenAlgorithms", .array([.string("RS256")]))], { _ in }, .signIn, .fails, nil),
      ([("redirectUri", .string("app:/callback"))], { _ in }, .signIn, .limited, "redirectUri"),
      ([], { $0["revocation_endpoint"] = .string("ftp://x") }, .signIn, .limited, "revocation_endpoint"),
      ([("scopes", .string("read"))], { $0["userinfo_endpoint"] = nil }, .profile, .limited, "profile"),
      ([], { $0["userinfo_endpoint"] = nil }, .profile, .limited, nil),
      (
        [], { $0["grant_types_supported"] = .array([.string("authorization_code")]) }, .renewal, .limited, nil
      ),
      (
        [("scopes", .string("openid"))],
        { $0["scopes_supported"] = .array([.string("openid"), .string("offline_access")]) }, .renewal,
        .limited,
        "scopes"
      ),
      ([], { $0["end_session_endpoint"] = nil }, .logout, .limited, nil),
      ([], { $0["revocation_endpoint"] = nil }, .logout, .limited, nil),
      (
        [], { $0["device_authorization_endpoint"] = nil }, .device, .limited,
        "endpoints.deviceAuthorizationEndpoint"
      ),
    ]
    for (index, (configuration, metadata, subject, verdict, key)) in cases.enumerated() {
      let (check, _) = try check(configuration, metadata)
      #expect(
        check.findings.contains { $0.subject == subject && $0.verdict == verdict && $0.key == key },
        "case \(index): \(check.findings)")
      if subject == .signIn, verdict == .fails { #expect(!verdicts(check, .signIn).contains(.works)) }
    }
  }

  @Test("silence is no finding: providers do not list every scope, and do not announce public clients")
  func silence() throws {
    let (check, _) = try check([("scopes", .string("openid api"))]) {
      $0["scopes_supported"] = .array([.string("openid")])
      $0["token_endpoint_auth_methods_supported"] = .array([.string("client_secret_basic")])
    }
    #expect(check.findings.allSatisfy { $0.verdict == .works }, "\(check.findings)")
  }

  @Test("a session shows whether it renews, whatever grants are announced")
  func session() throws {
    let bench = try Bench([("scopes", .string("openid offline_access"))])
    bench.provider.change {
      $0.metadata = { $0["grant_types_supported"] = .array([.string("authorization_code")]) }
    }
    let engine = try bench.signedIn()
    expect(verdicts(try engine.providerCheck.checkProvider(cancellation: nil), .renewal), is: [.works])
  }

  @Test("a provider that cannot be reached, or whose keys cannot, is a finding")
  func unreachable() throws {
    for endpoint in [FakeProvider.Endpoint.discovery, .keys] {
      let bench = try Bench([])
      bench.provider.next(endpoint, .unreachable)
      let check = try bench.engine().providerCheck.checkProvider(cancellation: nil)
      expect(verdicts(check, .signIn), is: [.fails])
    }
  }

  @Test("a provider that is down now does not work, whatever is at hand of it")
  func downWithCache() throws {
    let bench = try Bench([])
    let engine = bench.engine()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.provider.next(.discovery, .status(503))
    expect(verdicts(try engine.providerCheck.checkProvider(cancellation: nil), .signIn), is: [.fails])
  }

  @Test("the announcements are read anew, whatever is at hand")
  func anew() throws {
    let bench = try Bench([])
    let engine = bench.engine()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.provider.change { $0.metadata = { $0["device_authorization_endpoint"] = nil } }
    expect(verdicts(try engine.providerCheck.checkProvider(cancellation: nil), .device), is: [.limited])
  }

  @Test("the preset of a known provider is named, unless it is used")
  func preset() throws {
    let bare = try Bench([("issuer", .string("https://gitlab.com"))])
    try expect(bare.engine().providerCheck.checkProvider(cancellation: nil).preset, is: "gitlab")
    let named = try Bench([("issuer", nil), ("provider", .string("gitlab"))])
    try expect(named.engine().providerCheck.checkProvider(cancellation: nil).preset, is: nil)
  }
}
