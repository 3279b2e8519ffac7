// Transactions in the form of the store. `transactions.jsonl` has each kind in every form that users' stores
// may have. The build of 23 November 2026 wrote the file; it is never written again.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Foundation
import Testing

@Suite("Stored transactions")
struct TransactionCodingTests {
  static let stored: [String] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "transactions.jsonl")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }()

  @Test("what an earlier build wrote is read, and written again byte for byte")
  func sameBytes() throws {
    expect(Self.stored.count, is: 23)
    for line in Self.stored { try expect(text(of: read(line)), is: line) }
  }

  @Test("each is read as what it waits for")
  func flows() throws {
    let read = try Self.stored.map { try self.read($0) }
    for (transaction, (id, flow)) in zip(read, Self.expected) {
      expect(transaction.id.text, is: id)
      expect(transaction.flow, is: flow, "\(id)")
    }
    expect(read.count, is: Self.expected.count)
  }

  @Test("a settled transaction holds nothing that works once, even where its file does (R7)")
  func spent() throws {
    for line in Self.stored {
      for (open, settled) in [("pending", "succeeded"), ("cancelled", "failed"), ("exchanging", "failed")] {
        let status = "\"status\":\"\(open)\""
        guard line.contains(status) else { continue }
        let written = try text(of: read(line.replacing(status, with: "\"status\":\"\(settled)\"")))
        for secret in [
          "\"nonce\":\"nonce\"", "verifier\"", "dpopKey\"", "sessionID", "deviceCode", "address",
        ] {
          #expect(!written.contains(secret), "\(line)")
        }
      }
    }
  }

  @Test("a link's cause is whole, or the record is corrupt")
  func halfCause() throws {
    let line = try #require(Self.stored.first { $0.contains("\"origin\":") })
    let halves = ["\"origin\":\"registration\",", "\"source\":\"activation\","]
    for half in halves {
      #expect(line.contains(half))
      let error = refusal { try read(line.replacing(half, with: "")) }
      expect(error?.code, is: .storeCorrupt)
    }
  }

  // MARK: -

  private func read(_ line: String) throws -> TransactionRecord {
    let blank = AccountDocument(account: .default, lineage: "", record: AccountRecord())
    let text = blank.encoded().reveal().replacing("\"transactions\":[]", with: "\"transactions\":[\(line)]")
    return try #require(AccountDocument(decoding: Secret(text)).record.transactions.first)
  }

  private func text(of transaction: TransactionRecord) throws -> String {
    var record = AccountRecord()
    record.transactions = [transaction]
    let text = AccountDocument(account: .default, lineage: "", record: record).encoded().reveal()
    let start = try #require(text.range(of: "\"transactions\":[")).upperBound
    let end = try #require(text.range(of: "],\"asksForLogin\"")).lowerBound
    return String(text[start..<end])
  }

  private static let expected: [(String, TransactionRecord.Flow)] = [
    ("sign-in", .signIn(.init(request()))),
    ("sign-in with every option", .signIn(.init(full(spent: false)))),
    ("sign-in, settled", .signIn(.init(full(spent: true)))),
    ("sign-in that fell back", .signIn(.init(request(), hasFallenBack: true))),
    ("sign-in by a link", .signIn(.init(request(), cause: LinkCause(.activation, for: "registration")))),
    (
      "sign-in by a fallback",
      .signIn(.init(request(), cause: LinkCause(.fallback, for: "sign-in"), hasFallenBack: true))
    ),
    ("registration in the browser", .registration(.init(.request(request(key: true)), isInBrowser: true))),
    (
      "registration whose browser was left", .registration(.init(.request(request()), isInBrowser: false))
    ),
    (
      "registration with links",
      .registration(
        .init(
          .request(request()), isInBrowser: false, spentLinks: SpentLinks(["hash-1", "hash-2"]),
          hasFallenBack: true))
    ),
    (
      "registration, settled",
      .registration(
        .init(.request(request(spent: true)), isInBrowser: false, spentLinks: SpentLinks(["hash-1"])))
    ),
    (
      "registration at a page",
      .registration(
        .init(.page(IDTokenDemands(maxAgeSeconds: 60, acrValues: ["gold"])), isInBrowser: false))
    ),
    (
      "registration at a page, settled",
      .registration(.init(.page(IDTokenDemands()), isInBrowser: false, spentLinks: SpentLinks(["hash-1"])))
    ),
    (
      "link by e-mail",
      .magicLink(.init(request(key: true), to: Recipient(.email, address: "alice@example.org")))
    ),
    ("link by e-mail, settled", .magicLink(.init(request(spent: true), to: nil))),
    ("one-time code", .oneTimeCode(.init(to: Recipient(.sms, address: "+31612345678"), tries: 2))),
    ("one-time code, settled", .oneTimeCode(nil)),
    ("another app", .app2app(.init(redirectURI: callback, session: .init(Secret("session"))))),
    (
      "another app, tried",
      .app2app(.init(redirectURI: callback, session: .init(Secret("session"), tries: 3)))
    ),
    ("another app, settled", .app2app(.init(redirectURI: callback, session: nil))),
    (
      "back end",
      .bff(
        .init(
          redirect: redirect, prompt: "login",
          exchange: .init(provider: "google", codeVerifier: Secret("verifier"))))
    ),
    ("back end, settled", .bff(.init(redirect: redirect, prompt: "login", exchange: nil))),
    (
      "device",
      .device(
        .init(
          code: Secret("device-code"), intervalSeconds: 5,
          notBefore: Expiry(
            expiresAt: UnixTime(seconds: 1_700_000_005), deadline: Instant(nanoseconds: 10_000_000_000),
            bootID: "boot", lifetimeSeconds: 5), dpopKey: key))
    ),
    ("device, settled", .device(nil)),
  ]

  private static let callback = "com.example.app:/cb"
  private static let redirect = AwaitedRedirect(uri: callback, state: Secret("state"))
  private static let key = DPoPKey(der: Secret([48, 0, 255]))

  private static func request(spent: Bool = false, key hasKey: Bool = false) -> CodeRequest {
    CodeRequest(redirect: redirect, secrets: spent ? nil : secrets(hasKey))
  }

  private static func full(spent: Bool) -> CodeRequest {
    CodeRequest(
      redirect: AwaitedRedirect(
        uri: "http://127.0.0.1:4711/cb", state: Secret("state"), listensOnLoopback: true),
      secrets: spent ? nil : secrets(true),
      demands: IDTokenDemands(maxAgeSeconds: 60, acrValues: ["gold", "silver"]), prompt: "login consent",
      expectedSubject: "alice", isSocial: true)
  }

  private static func secrets(_ hasKey: Bool) -> CodeRequest.Secrets {
    .init(nonce: Secret("nonce"), codeVerifier: Secret("verifier"), dpopKey: hasKey ? key : nil)
  }
}
