import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON
import Expectations
import Testing

@testable import EnrollCommands

@Suite("Pure commands")
struct ValueCommandTests {
  private let session = Session()

  /// The command's result, which must match its schema.
  private func call(_ name: String, _ parameters: [(String, JSON?)] = []) throws -> JSON {
    let result = try session.call(name, .object(parameters))
    try #require(CommandTable.command(name)).output.check(result)
    return result
  }

  private func text(_ json: JSON) -> String { String(decoding: json.serialized(), as: UTF8.self) }

  @Test("system.describe tells the version and every command")
  func describe() throws {
    let described = try call("system.describe")
    expect(described["version"], is: .string(LibraryVersion.string))
    expect(described["commands"]?.array?.count, is: CommandTable.all.count)
  }

  @Test(
    "pkce.generate gives a verifier of 43 characters and its S256 challenge, new ones each time (R13, R14)")
  func pkce() throws {
    let first = try call("pkce.generate")
    let verifier = try #require(first["codeVerifier"]?.string)
    expect(verifier.utf8.count, is: 43)
    expect(first["codeChallenge"]?.string, is: try PKCE.challenge(for: Secret(verifier)))
    try expect(call("pkce.generate")["codeVerifier"], isNot: first["codeVerifier"])
  }

  @Test("redirect.parse gives what a provider may send, decoded")
  func redirect() throws {
    let url = "com.example.app:/cb?code=a%2Bb&state=s&iss=https%3A%2F%2Fid.example&x=y#f"
    #expect(
      text(try call("redirect.parse", [("url", .string(url))]))
        == #"{"code":"a+b","state":"s","iss":"https://id.example"}"#)
    let failed = "com.example.app:/cb?error=access_denied&error_description=The+user+said+no&state=s"
    expect(
      text(try call("redirect.parse", [("url", .string(failed))])),
      is: #"{"state":"s","error":"access_denied","errorDescription":"The user said no"}"#)
  }

  @Test(
    "redirect.parse refuses what R8 and R9 refuse",
    arguments: [
      "com.example.app:/cb?code=a&code=b", "com.example.app:/cb?code=a&error=b", "nodot:/cb?code=a",
      "https://user@app.example/cb?code=a", "",
    ])
  func badRedirect(url: String) {
    let error = #expect(throws: EnrollError.self) { try call("redirect.parse", [("url", .string(url))]) }
    expect(error?.code, is: .redirectMalformed)
  }

  @Test("link.parse takes a link apart without changing it")
  func link() throws {
    expect(
      text(try call("link.parse", [("url", .string("https://app.example:8443/welcome/a%20b?x=1&y#z"))])),
      is: #"{"kind":"https","scheme":"https","host":"app.example","port":8443,"path":"/welcome/a%20b","#
        + #""query":"x=1&y","hadFragment":true}"#)
    expect(
      text(try call("link.parse", [("url", .string("com.example.app:/cb"))])),
      is: #"{"kind":"privateScheme","scheme":"com.example.app","path":"/cb","hadFragment":false}"#)
  }

  @Test(
    "link.parse refuses what R9 refuses, in words that hold no part of the link (R11)",
    arguments: [
      "http://app.example/canary", "https://canary@app.example/", "https://app.example./canary",
      "https://app.example/canary%00", "https://app.example\\canary", "https://app.example:0/canary",
    ])
  func badLink(url: String) {
    let error = #expect(throws: EnrollError.self) { try call("link.parse", [("url", .string(url))]) }
    expect(error?.code, is: .redirectMalformed)
    expect(error?.message.contains("canary"), is: false)
  }

  @Test(
    "expiry.check tells the band of a token's life",
    arguments: [
      (161, 60, 0, nil, "fresh", 61), (160, 60, 0, nil, "due", 60), (101, 60, 0, nil, "due", 1),
      (100, 60, 0, nil, "expired", 0), (40, 60, 0, nil, "expired", -60), (500, 60, 400, nil, "due", 400),
      (501, 60, 400, nil, "fresh", 401), (131, 60, 0, 60, "fresh", 31), (130, 60, 0, 60, "due", 30),
    ] as [(Int64, Int64, Int64, Int64?, String, Int64)])
  func expiry(
    end: Int64, grace: Int64, needed: Int64, lifetime: Int64?, band: String, left: Int64
  ) throws {
    let result = try call(
      "expiry.check",
      [
        ("expiresAt", .integer(end)), ("now", .integer(100)), ("grace", .integer(grace)),
        ("minimumLifetime", .integer(needed)), ("lifetime", lifetime.map { .integer($0) }),
      ])
    expect(text(result), is: #"{"band":"\#(band)","secondsLeft":\#(left)}"#)
  }

  @Test("expiry.check survives the ends of the number line (R32)")
  func extremes() throws {
    try expect(
      call("expiry.check", [("expiresAt", .integer(.max)), ("now", .integer(.min))])["band"],
      is: .string("fresh"))
    try expect(
      call("expiry.check", [("expiresAt", .integer(.min)), ("now", .integer(.max))])["band"],
      is: .string("expired"))
  }
}
