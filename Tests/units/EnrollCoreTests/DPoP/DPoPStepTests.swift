import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("DPoP: sessions that are bound to a key (RFC 9449)")
struct DPoPStepTests {
  /// A provider that announces ES256.
  private func bench(
    _ use: FeaturePolicy = .auto, requiresConfirmation: Bool = false, announces: [String] = ["ES256"]
  ) throws -> Bench {
    let bench = try Bench(requiresConfirmation: requiresConfirmation, dpop: use)
    bench.provider.change { $0.dpopAlgorithms = announces }
    return bench
  }

  private func proof(_ request: HTTPRequest?) throws -> ReadProof? {
    try request?.headers.first { $0.name == "DPoP" }.map { try ReadProof($0.value) }
  }

  @Test(
    "the key is made with the transaction and moves with its tokens, through provisional, confirmed, renewed")
  func whole() throws {
    let bench = try bench(requiresConfirmation: true)
    let engine = bench.engine()
    let url = try engine.signIn.begin(SignInOptions(), cancellation: nil).url
    let key = try #require(try bench.record.transactions.first?.dpopKey)
    #expect(url.contains("&dpop_jkt=\(try key.signer().thumbprint)"))

    try expect(engine.failure(of: bench.provider.signIn(at: url)), is: nil)
    try expect(bench.record.provisional?.dpopKey, is: key)
    try expect(bench.record.provisional?.tokenType, is: "DPoP")
    try expect(bench.record.transactions.first?.dpopKey, is: nil)
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(bench.record.confirmed?.dpopKey, is: key)

    bench.clock.advance(seconds: 3590)
    // Another process must find the key in the store.
    let second = bench.engine()
    let token = try second.access().token()
    expect(token.tokenType, is: "DPoP")
    try expect(bench.record.confirmed?.dpopKey, is: key)
    expect(bench.provider.count(.token), is: 2)
    try expect(second.identity.userinfo(cancellation: nil)["sub"], is: .string("alice"))
    let shown = try #require(try proof(bench.provider.requests(.userinfo).first))
    expect(shown.claims["ath"]?.string, is: Base64URL.encode(try Digest.sha256.hash(token.value)))
  }

  @Test("every request has a proof of its own: another jti, its own method and URL, the server's time")
  func proofs() throws {
    let bench = try bench()
    bench.provider.change { $0.clockOffsetSeconds = -86_400 }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3590)
    _ = try engine.access()
    let proofs = try bench.provider.requests(.token).map { try #require(try proof($0)) }
    expect(Set(proofs.map { $0.claims["jti"]?.string }).count, is: 2)
    #expect(proofs.allSatisfy { $0.claims["htu"] == .string("https://id.example/token") })
    #expect(proofs.allSatisfy { $0.claims["htm"] == .string("POST") && $0.claims["ath"] == nil })
    let now = bench.clock.wallTime().seconds
    expect(proofs.last?.claims["iat"], is: .integer(now - 86_400))
    expect(bench.provider.requests(.token).first?.freshConnection, is: true)
  }

  @Test("a device whose date is set in the middle of a session proves by the server's clock (R25)")
  func dateSet() throws {
    let bench = try bench()
    let engine = bench.engine()
    let url = try engine.signIn.begin(SignInOptions(), cancellation: nil).url
    // The test changes the date of this device, but not the server's clock.
    bench.provider.change { $0.clockOffsetSeconds = -31_536_000 }
    bench.clock.setWall(bench.clock.wallTime().seconds + 31_536_000)
    try expect(engine.failure(of: bench.provider.signIn(at: url)), is: nil)
  }

  @Test(
    "a date that was changed before this process began costs one refused request (R15, R25)",
    arguments: [-3600, 3600] as [Int64])
  func changedDate(difference: Int64) throws {
    let bench = try bench()
    bench.clock.setWall(bench.clock.wallTime().seconds + difference)
    bench.provider.change { $0.clockOffsetSeconds = -difference }
    _ = try bench.signedIn()
    bench.clock.setWall(bench.clock.wallTime().seconds - difference)
    bench.provider.change { $0.clockOffsetSeconds = 0 }
    for most in [2, 2, 1] {
      bench.clock.advance(seconds: 4000)
      let before = bench.provider.count(.token)
      _ = try bench.engine().token()
      #expect(bench.provider.count(.token) - before <= most)
    }
  }

  /// `iat` of the last proof that the token endpoint received, minus the current date of the device.
  private func lastIssued(_ bench: Bench) throws -> Int64? {
    let issued = try proof(bench.provider.requests(.token).last)?.claims["iat"]?.integer
    return issued.map { $0 - bench.clock.wallTime().seconds }
  }

  @Test("a date that comes out of a cache proves nothing to a server whose own answer was heard (R25)")
  func cachedDate() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    bench.provider.change { $0.documentAgeSeconds = 86_400 }
    for _ in 1...3 {
      bench.clock.advance(seconds: 4000)
      _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      _ = try engine.token()
      try expect(lastIssued(bench), is: 0)
    }
    expect(bench.provider.count(.discovery), is: 4)
    // A process that knows only the stored offset must also make its proofs with the right time.
    let other = bench.engine()
    bench.clock.advance(seconds: 4000)
    _ = try other.token()
    try expect(lastIssued(bench), is: 0)
  }

  @Test("an answer that says it comes out of a cache tells no time at all, whatever its date (R25)")
  func age() throws {
    for age in ["86400", "soon", "-1"] {
      let bench = try bench()
      bench.provider.change { $0.documentHeaders = [HTTPHeader("Age", age)] }
      // The document's `Date` is an hour ahead of the device's clock. Because the document has an `Age`, EnrollKit must
      // ignore that `Date`.
      bench.provider.change { $0.documentAgeSeconds = -3600 }
      _ = try bench.signedIn()
      try expect(lastIssued(bench), is: 0)
    }
  }

  @Test("a server's clock that jumps is believed when a second answer agrees (R25)")
  func jump() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    var seen: [Int64?] = []
    // At first one node of the provider's cluster has a clock that is two hours ahead, then all nodes have such a
    // clock.
    for offset: Int64 in [0, 7200, 0, 7200, 7200, 7200] {
      bench.provider.change { $0.clockOffsetSeconds = offset }
      _ = try? engine.identity.userinfo(cancellation: nil)
      let issued = try proof(bench.provider.requests(.userinfo).last)?.claims["iat"]?.integer
      seen.append(issued.map { $0 - bench.clock.wallTime().seconds })
    }
    // The server refused the fifth request. The date of this refusal agreed with the date of the fourth answer, so the
    // request was sent once more.
    expect(seen, is: [0, 0, 0, 0, 7200, 7200])
  }

  @Test("where it is announced, where it is not, and what the configuration says of it")
  func configuration() throws {
    for (use, announced, type) in [
      (FeaturePolicy.auto, ["ES256"], "DPoP"), (.auto, [], "Bearer"), (.auto, ["RS256"], "Bearer"),
      (.never, ["ES256"], "Bearer"), (.always, ["RS256", "ES256"], "DPoP"),
    ] {
      let bench = try bench(use, announces: announced)
      try expect(bench.signedIn().access().token().tokenType, is: type, "\(use) \(announced)")
      try expect((bench.record.confirmed?.dpopKey != nil), is: type == "DPoP")
    }
    let other = try bench(.always, announces: ["RS256"])
    let error = refusal { try other.engine().signIn.begin(SignInOptions(), cancellation: nil) }
    expect(error?.code, is: .unsupported)
    expect(error?.field, is: "dpop")
  }

  @Test("a provider that announces DPoP and answers Bearer: taken with auto, refused with always (§5)")
  func bearerInstead() throws {
    let auto = try bench()
    auto.provider.change { $0.answersBearer = true }
    let engine = try auto.signedIn()
    try expect(engine.access().token().tokenType, is: "Bearer")
    // The access token is not bound to the key, but the refresh token is.
    auto.clock.advance(seconds: 3590)
    _ = try engine.access()
    #expect(try proof(auto.provider.requests(.token).last) != nil)
    try expect(engine.identity.userinfo(cancellation: nil)["sub"], is: .string("alice"))
    #expect(try proof(auto.provider.requests(.userinfo).last) == nil)

    let always = try bench(.always)
    always.provider.change { $0.answersBearer = true }
    let strict = always.engine()
    let url = try strict.signIn.begin(SignInOptions(), cancellation: nil).url
    try expect(strict.failure(of: always.provider.signIn(at: url)), is: .responseInvalid)
    #expect(try !always.record.hasTokens)
  }

  @Test("a provider that answers DPoP to who proved nothing is refused (RFC 6749 §7.1)")
  func unasked() throws {
    let bench = try Bench()
    bench.provider.next(
      .token, .status(200, body: #"{"access_token":"a","token_type":"DPoP","expires_in":3600}"#))
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .responseInvalid)
  }

  @Test("a demanded nonce: one more request with it, the code and all; later ones have it at once (R15, §8)")
  func nonce() throws {
    let bench = try bench()
    bench.provider.change { $0.dpopNonce = "n-1" }
    let engine = try bench.signedIn()
    expect(bench.provider.count(.token), is: 2)
    let exchanges = bench.provider.requests(.token)
    expect(exchanges[0].body, is: exchanges[1].body)
    let proofs = try exchanges.map { try #require(try proof($0)) }
    expect(proofs.map { $0.claims["nonce"]?.string }, is: [nil, "n-1"])
    expect(proofs[0].claims["jti"], isNot: proofs[1].claims["jti"])
    #expect(exchanges.allSatisfy { $0.freshConnection })

    bench.clock.advance(seconds: 3590)
    _ = try engine.access()
    expect(bench.provider.count(.token), is: 3)
    bench.provider.change { $0.dpopNonce = "n-2" }
    try expect(engine.identity.userinfo(cancellation: nil)["sub"], is: .string("alice"))
    expect(bench.provider.count(.userinfo), is: 2)
  }

  @Test(
    "the next process sends the last nonce at once: a request without it may cost the refresh token (§8.2)")
  func keptNonce() throws {
    let bench = try bench()
    bench.provider.change { $0.dpopNonce = "n-1" }
    _ = try bench.signedIn()
    let sent = bench.provider.count(.token)
    bench.clock.advance(seconds: 3700)
    _ = try bench.engine().token()
    expect(bench.provider.count(.token), is: sent + 1)
  }

  @Test("of two nonces the one that was heard later is sent, whichever process heard it (§8.2)")
  func laterNonce() throws {
    let bench = try bench()
    bench.provider.change { $0.dpopNonce = "n-1" }
    let first = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.change { $0.dpopNonce = "n-2" }
    _ = try bench.engine().token()
    bench.clock.advance(seconds: 3700)
    let sent = bench.provider.count(.token)
    _ = try first.token()
    expect(bench.provider.count(.token), is: sent + 1)
  }

  @Test("a nonce that is demanded twice fails, typed; the code is not sent a third time (R15)")
  func demandedTwice() throws {
    let bench = try bench()
    let demand = FakeProvider.Reply.status(
      400, headers: [HTTPHeader("DPoP-Nonce", "again")], body: #"{"error":"use_dpop_nonce"}"#)
    bench.provider.next(.token, demand, demand)
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "it succeeded")
    }
    expect(error.code, is: .oauth)
    expect(error.oauthError, is: "use_dpop_nonce")
    expect(bench.provider.count(.token), is: 2)
  }

  @Test(
    "a demand without a nonce that can be sent is not answered with another request",
    arguments: [[], [HTTPHeader("DPoP-Nonce", "")], [HTTPHeader("DPoP-Nonce", "a\"b")]])
  func noNonce(headers: [HTTPHeader]) throws {
    let bench = try bench()
    bench.provider.next(.token, .status(400, headers: headers, body: #"{"error":"use_dpop_nonce"}"#))
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .oauth)
    expect(bench.provider.count(.token), is: 1)
  }

  @Test("a nonce that is demanded without end ends no session, in however many renewals")
  func demandedForever() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    for _ in 0..<3 {
      bench.clock.advance(seconds: 3700)
      let demand = FakeProvider.Reply.status(
        400, headers: [HTTPHeader("DPoP-Nonce", "again")], body: #"{"error":"use_dpop_nonce"}"#)
      bench.provider.next(.token, demand, demand, demand, demand)
      guard case .expired(_, _, let reason) = try engine.access() else {
        throw Unexpected(what: "another outcome")
      }
      expect(reason.oauthError, is: "use_dpop_nonce")
    }
    try expect(bench.record.sessionEnded, is: nil)
    bench.clock.advance(seconds: 3700)
    try expect(engine.access().token().tokenType, is: "DPoP")
  }

  @Test("a nonce is its origin's alone, and the last one counts (§8.2)")
  func nonceOfOrigin() throws {
    let engine = try bench().signedIn()
    func nonce(_ url: String, _ given: String? = nil) throws -> String? {
      try ReadProof(engine.proofs.dpopProof(method: "GET", url: url, nonce: given)).claims["nonce"]?.string
    }
    try expect(nonce("https://api.example/a", "n-1"), is: "n-1")
    try expect(nonce("https://api.example/b"), is: "n-1")
    try expect(nonce("https://api.example:8443/b"), is: nil)
    try expect(nonce("https://other.example/a"), is: nil)
    try expect(nonce("https://api.example/a", "n-2"), is: "n-2")
    try expect(nonce("https://api.example/a"), is: "n-2")
    for bad in ["", "a b", "a\"b", "a\\b", "\u{e9}", String(repeating: "x", count: 1025)] {
      expect(refusal { try nonce("https://api.example/a", bad) }?.field, is: "nonce")
    }
  }

  @Test("dpop.proof covers the present token, or the one that the host names (§4.2)")
  func hostProof() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    let token = try engine.access().token().value
    func hash(_ given: Secret?) throws -> String? {
      let text = try engine.proofs.dpopProof(
        method: "PUT", url: "https://api.example/a?b", accessToken: given)
      let proof = try ReadProof(text)
      #expect(try proof.isSignedByItsKey)
      expect(proof.claims["htm"], is: .string("PUT"))
      return proof.claims["ath"]?.string
    }
    try expect(hash(nil), is: Base64URL.encode(try Digest.sha256.hash(token)))
    try expect(hash(Secret(RFC9449.token)), is: RFC9449.tokenHash)
  }

  @Test("dpop.proof needs a token of type DPoP")
  func hostProofRefused() throws {
    let url = "https://api.example/"
    let nobody = try bench().engine()
    expect(code { _ = try nobody.proofs.dpopProof(method: "GET", url: url) }, is: .reauthenticate)
    let bearer = try bench(.never).signedIn()
    expect(code { _ = try bearer.proofs.dpopProof(method: "GET", url: url) }, is: .illegalState)
    let waiting = try bench(requiresConfirmation: true)
    let engine = try waiting.signedIn()
    expect(code { _ = try engine.proofs.dpopProof(method: "GET", url: url) }, is: .illegalState)
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    _ = try engine.proofs.dpopProof(method: "GET", url: url)
  }

  @Test("a pushed request names the key, and the token endpoint holds the code against it (§10.1)")
  func pushed() throws {
    let bench = try bench()
    bench.provider.change { $0.takesPushedRequests = true }
    let engine = bench.engine()
    let url = try engine.signIn.begin(SignInOptions(), cancellation: nil).url
    let request = try #require(bench.provider.requests(.pushed).first)
    let key = try #require(try bench.record.transactions.first?.dpopKey)
    #expect(
      String(decoding: request.body, as: UTF8.self).contains("&dpop_jkt=\(try key.signer().thumbprint)"))
    #expect(try proof(request) == nil)
    #expect(!url.contains("dpop_jkt"))
    try expect(engine.failure(of: bench.provider.signIn(at: url)), is: nil)
    try expect(engine.access().token().tokenType, is: "DPoP")
  }

  @Test("a revocation that has to show the access token proves its key (R31)")
  func revocation() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    let refusal = FakeProvider.Reply.status(401, headers: [HTTPHeader("Content-Length", "0")])
    bench.provider.next(.revocation, refusal, .proper, refusal)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    let requests = bench.provider.requests(.revocation)
    expect(requests.count, is: 4)
    for (index, request) in requests.enumerated() {
      let authorization = request.headers.first { $0.name == "Authorization" }?.value
      expect((authorization?.hasPrefix("DPoP access-") ?? false), is: index % 2 == 1)
      try expect((proof(request)?.claims["ath"] != nil), is: index % 2 == 1)
    }
  }

  @Test("the device grant binds its tokens as well, and its key waits in the store (RFC 8628)")
  func device() throws {
    let bench = try bench()
    bench.provider.change { $0.deviceError = nil }
    let begun = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    let key = try #require(try bench.record.transactions.first?.dpopKey)
    bench.clock.advance(seconds: 6)
    let engine = bench.engine()
    _ = try engine.device.pollDevice(begun.transactionID)
    try expect(bench.record.confirmed?.tokenType, is: "DPoP")
    try expect(bench.record.confirmed?.dpopKey, is: key)
  }

  @Test("a refresh token of another key is refused, and the session ends as for any refused token (R34)")
  func otherKey() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    try bench.store.update(.default) { record throws(EnrollError) in
      record.confirmed?.dpopKey = try DPoPKey.make()
    }
    bench.clock.advance(seconds: 3590)
    guard case .reauthenticate = try engine.access() else { throw Unexpected(what: "another outcome") }
  }
}

extension TransactionRecord {
  /// The key to which the transaction's tokens will be bound.
  fileprivate var dpopKey: DPoPKey? {
    if case .device(let device) = flow { device?.dpopKey } else { codeRequest?.secrets?.dpopKey }
  }
}
