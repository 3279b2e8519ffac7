// Compares the steps of a sign-in with plain C that does the same work (../Peers/peers.c), in one process and
// in alternating rounds, so that other work on the machine affects both. Each step prints one JSON line: its
// name, our time, the time of plain C, the median of the ratios and their quartiles (performance.md, How to
// read it). Compiled with the flags of the libraries.
//
//     bench-steps      saves in the folder `store` of the current folder
//
// BENCH_ONLY=redirect in the environment leaves the other steps out, for a profiler. With
// BENCH_FILL=CONFIGURATION it measures nothing: it makes the accounts numbered from BENCH_FROM up to BENCH_TO
// in that store (Filling.swift).

import BenchPeers
import CPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore

/// Calls both sides in alternation, until there are enough rounds.
/// - Parameter clock: the thread's CPU time; for code that waits for a disk, the wall time.
func compare(
  _ what: String, calls: Int, rounds: Int, by clock: () -> Int64 = peer_cpu, ours: () -> Bool,
  theirs: () -> Bool
) {
  var times: [Int64] = []
  var peers: [Int64] = []
  var ratios: [Int64] = []
  for round in 0...rounds {
    let began = clock()
    for _ in 0..<calls where !ours() { fail(what + ": ours") }
    let middle = clock()
    for _ in 0..<calls where !theirs() { fail(what + ": theirs") }
    let ended = clock()
    // The first round opens libraries and fills caches.
    guard round > 0 else { continue }
    times.append((middle - began) * 10 / Int64(calls))
    peers.append((ended - middle) * 10 / Int64(calls))
    ratios.append((middle - began) * 1000 / (ended - middle))
  }
  ratios.sort()
  let spread =
    "\"low\": \(decimal(ratios[rounds / 4], 3)), \"high\": \(decimal(ratios[rounds * 3 / 4], 3))"
  print(
    "{\"what\": \"\(what)\", \"ours\": \(decimal(median(times), 1)), \"theirs\": \(decimal(median(peers), 1)), "
      + "\"unit\": \"ns\", \"ratio\": \(decimal(ratios[rounds / 2], 3)), \(spread)}"
  )
}

func median(_ numbers: [Int64]) -> Int64 { numbers.sorted()[numbers.count / 2] }

/// A number whose last digits are after the decimal point: Embedded Swift prints no Double.
func decimal(_ number: Int64, _ digits: Int) -> String {
  var text = String(number)
  while text.utf8.count <= digits { text = "0" + text }
  let point = text.utf8.index(text.utf8.endIndex, offsetBy: -digits)
  return String(text[..<point]) + "." + String(text[point...])
}

func fail(_ text: String) -> Never {
  print("bench-steps: " + text)
  exit(1)
}

func benchPKCE() throws(EnrollError) {
  let random = SystemRandomSource()
  compare("PKCE pair", calls: 500, rounds: 401) {
    (try? PKCE.make(random: random.bytes(PKCE.randomByteCount))) != nil
  } theirs: {
    peer_pkce() == 1
  }
}

// MARK: Redirects

let clock = SystemClock()
let state = "af0ifjsldkjaf0ifjsldkjaf0ifjsldkjaf0ifjsldk"

func transaction() -> TransactionRecord {
  TransactionRecord(
    id: "transaction", issuer: "https://id.example", scopes: ["openid"], began: clock.wallTime(),
    deadline: Expiry(lifetimeSeconds: 600, from: clock.moment()),
    flow: .signIn(
      .init(
        CodeRequest(
          redirect: AwaitedRedirect(uri: "https://app.example/callback", state: Secret(state)),
          secrets: .init(nonce: Secret("nonce"), codeVerifier: Secret("verifier"))))))
}

func verified(_ url: String, _ transactions: [TransactionRecord], _ moment: Moment) -> Bool {
  guard let redirect = try? Redirect(parsing: url),
    let answer = try? VerifiedRedirect(
      verifying: redirect, among: transactions, issuerAnnounced: true, at: moment)
  else { return false }
  if case .code = answer.answer { return true }
  return false
}

func benchRedirect() {
  let url =
    "https://app.example/callback?code=SplxlOBeZQQYbYS6WxSbIASplxlOBeZQQYbYS6WxSbI"
    + "&state=\(state)&iss=https%3A%2F%2Fid.example"
  let transactions = [transaction()]
  let moment = clock.moment()
  let ours = { verified(url, transactions, moment) }
  compare("redirect parsed and verified", calls: 500, rounds: 401, ours: ours) {
    url.withCString { peer_redirect($0, "https://app.example/callback", state, "https://id.example") } == 1
  }

  var long = url
  for index in 0..<40 { long += "&parameter\(index)=value" }
  let few = allocations { verified(url, transactions, moment) }
  let many = allocations { verified(long, transactions, moment) }
  print("{\"what\": \"allocations for 40 more parameters of a redirect\", \"ours\": \(many - few)}")
}

func allocations(_ body: () -> Bool) -> Int {
  let before = peer_allocations()
  guard body() else { fail("redirect") }
  return Int(peer_allocations() - before)
}

// MARK: id_tokens

func signed(_ key: PrivateKey, _ algorithm: SignatureAlgorithm, _ claims: JSON) throws(CryptoError) -> Secret
{
  let header = JSON.object([
    ("alg", .string(algorithm.rawValue)), ("kid", .string("1")), ("typ", .string("JWT")),
  ])
  let text = Base64URL.encode(header.serialized()) + "." + Base64URL.encode(claims.serialized())
  let signature = try key.sign(Array(text.utf8), algorithm: algorithm)
  return Secret(text + "." + Base64URL.encode(signature))
}

func benchIDToken(_ kind: KeyKind, _ algorithm: SignatureAlgorithm, calls: Int) throws(CryptoError) {
  let key = try PrivateKey.generate(kind)
  let now = clock.wallTime()
  let claims = JSON.object([
    ("iss", .string("https://id.example")), ("sub", .string("248289761001")), ("aud", .string("my-app")),
    ("nonce", .string("af0ifjsldkjaf0ifjsldkj")), ("exp", .integer(now.seconds + 3600)),
    ("iat", .integer(now.seconds)), ("auth_time", .integer(now.seconds)),
    ("acr", .string("urn:example:silver")),
    ("name", .string("Alice Example")), ("given_name", .string("Alice")), ("family_name", .string("Example")),
    ("email", .string("alice@example.com")), ("email_verified", .bool(true)),
    ("picture", .string("https://id.example/pictures/alice.jpg")),
  ])
  let token = try signed(key, algorithm, claims)
  let bytes = token.revealBytes()
  let keys: JWKSet
  let peer: OpaquePointer?
  switch key.publicKey.components {
  case .rsa(let modulus, let exponent):
    keys = keySet([
      ("kty", .string("RSA")), ("n", .string(Base64URL.encode(modulus))),
      ("e", .string(Base64URL.encode(exponent))),
    ])
    peer = peer_rsa_key(modulus, modulus.count, exponent, exponent.count)
  case .ec(_, let x, let y):
    keys = keySet([
      ("kty", .string("EC")), ("crv", .string("P-256")), ("x", .string(Base64URL.encode(x))),
      ("y", .string(Base64URL.encode(y))),
    ])
    peer = peer_p256_key(x, y)
  case .ed25519: return
  }
  let expected = IDTokenExpectations(
    issuer: "https://id.example", clientID: "my-app", nonce: Secret("af0ifjsldkjaf0ifjsldkj"), now: now)
  compare("id_token, \(algorithm.rawValue)", calls: calls, rounds: 101) {
    guard let unverified = try? IDToken.Unverified(parsing: token) else { return false }
    return (try? unverified.verify(keys: keys, expecting: expected)) != nil
  } theirs: {
    peer_verify(peer, bytes, bytes.count) == 1
  }
}

func keySet(_ members: [(String, JSON?)]) -> JWKSet {
  let document = JSON.object([("keys", .array([.object(members + [("kid", .string("1"))])]))])
  guard let keys = try? JWKSet.parse(document.serialized()) else { fail("keys") }
  return keys
}

// MARK: Saves

/// The current folder: Embedded Swift has no command line arguments.
func here() -> String {
  guard let path = getcwd(nil, 0) else { fail("no current folder") }
  defer { free(path) }
  return String(cString: path)
}

func benchSave(_ folder: String) throws(EnrollError) {
  let store = try FileTokenStore(path: folder, clock: clock)
  let account = AccountName.default
  let tokens = TokenSet(
    accessToken: Secret(String(repeating: "a", count: 900)), tokenType: "Bearer",
    refreshToken: Secret(String(repeating: "r", count: 900)), idToken: nil, scopes: ["openid"],
    expiry: Expiry(lifetimeSeconds: 3600, from: clock.moment()), identity: nil,
    source: .issuer)
  // The C function writes a record of the same size, but does not seal it.
  let bytes = [UInt8](repeating: 0x61, count: 3000)
  compare("sealed durable save", calls: 1, rounds: 401, by: peer_wall) {
    (try? store.update(account) { record throws(EnrollError) in
      record.confirmed = tokens
      record.tokenEpoch += 1
    }) != nil
  } theirs: {
    peer_save(folder, bytes, bytes.count) == 1
  }
}

func isWanted(_ name: String) -> Bool {
  guard let only = environment("BENCH_ONLY") else { return true }
  return only.utf8.elementsEqual(name.utf8)
}

do {
  if let configuration = environment("BENCH_FILL") {
    let first = environment("BENCH_FROM").flatMap { Int($0) } ?? 0
    let end = environment("BENCH_TO").flatMap { Int($0) } ?? 0
    try fill(here() + "/store", from: first, to: end, configuration)
    exit(0)
  }
  if isWanted("pkce") { try benchPKCE() }
  if isWanted("redirect") { benchRedirect() }
  do {
    if isWanted("RS256") { try benchIDToken(.rsa(bits: 2048), .RS256, calls: 100) }
    if isWanted("ES256") { try benchIDToken(.ec(.p256), .ES256, calls: 50) }
  } catch {
    fail(error.message)
  }
  if isWanted("save") { try benchSave(here() + "/store") }
} catch {
  fail(error.description)
}
