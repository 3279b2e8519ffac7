// Tests that documents of the store are read back completely, or not at all.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Foundation
import Testing

struct StoreDocumentTests {
  @Test("the sample fills every field, so that a forgotten one is noticed")
  func sampleIsComplete() {
    let blank = Mirror(reflecting: AccountRecord()).children.map { String(reflecting: $0.value) }
    for (child, empty) in zip(Mirror(reflecting: Sample.record).children, blank) {
      expect(String(reflecting: child.value), isNot: empty, "\(child.label ?? "?")")
    }
    for sample: Any in [
      Sample.record, Sample.tokens, Sample.transaction, Sample.codeRequest,
      Sample.codeRequest.secrets as Any, Sample.codeRequest.demands, Sample.outboxEntry, Sample.expiry,
      Sample.record.renewalIntent as Any, Sample.record.refusal as Any, Sample.record.backoff as Any,
      Sample.tokens.identity as Any,
    ] { expectFilled(sample) }
  }

  /// Expects that the sample has no nil and no empty collection, at any depth.
  private func expectFilled(_ value: Any) {
    for child in Mirror(reflecting: value).children {
      let mirror = Mirror(reflecting: child.value)
      let isEmpty =
        (mirror.displayStyle == .optional || mirror.displayStyle == .collection) && mirror.children.isEmpty
      #expect(!isEmpty, "\(child.label ?? "?") of \(type(of: value))")
    }
  }

  @Test("every field of a record survives the store")
  func roundTrip() throws {
    try expect(AccountDocument(decoding: Sample.document.encoded()), is: Sample.document)
    let blank = AccountDocument(account: .default, lineage: "", record: AccountRecord())
    try expect(AccountDocument(decoding: blank.encoded()), is: blank)
  }

  @Test("a backoff survives the store, whatever its error says")
  func backoffs() throws {
    var document = Sample.document
    let error = EnrollError(.issuerMismatch, "the document is of another issuer", field: "issuer")
      .helped(by: .registerAgain).endingAttempt()
    let moment = Moment(wall: UnixTime(seconds: 1), instant: .distantFuture, bootID: "boot")
    var record = Sample.record
    record.backoff = RenewalBackoff(after: nil, error, at: moment, jitter: 0)
    document.content = .open(record)
    try expect(AccountDocument(decoding: document.encoded()), is: document)
  }

  @Test("the documents that the fuzzer begins with are read, and say something about every field")
  func fuzzerBegins() throws {
    let folder = Repository.top.appending(path: "Tests/tools/Fuzz/seeds/documents")
    func seed(_ name: String) throws -> Secret {
      Secret(Array(try Data(contentsOf: folder.appending(path: name))))
    }
    let account = try AccountDocument(decoding: seed("account"))
    expectFilled(account.record)
    expectFilled(try #require(account.record.confirmed))
    for transaction in account.record.transactions { expectFilled(transaction) }
    try expect(account.record(unsealed: seed("record"), version: 3), is: account.record)
    _ = try AccountDocument(decoding: seed("account-1"))
    _ = try AccountDocument(decoding: seed("plain"))
    _ = try AccountDocument(decoding: seed("pin"))
    try expect(OutboxDocument.decode(seed("outbox")).count, is: 3)
    _ = try InstallationDocument.decode(seed("installation"))
  }

  @Test(
    "a record of the first form is read: what was marked as not proven is told apart from the proven id_token"
  )
  func firstForm() throws {
    func first(isVerified: Bool) throws -> TokenSet {
      var document = try JSON.parse(Sample.document.encoded().revealBytes()).object ?? JSONObject()
      var record = document["record"]?.object ?? JSONObject()
      for name in ["confirmed", "provisional"] {
        var tokens = record[name]?.object ?? JSONObject()
        tokens["unprovenIDToken"] = nil
        tokens["isVerified"] = .bool(isVerified)
        record[name] = .object(tokens)
      }
      record["backoff"] = nil
      record["doubtedClockOffsetSeconds"] = nil
      document["record"] = .object(record)
      document["version"] = .integer(1)
      let read = try AccountDocument(decoding: Secret(JSON.object(document).serialized())).record
      expect(read.provisional, is: read.confirmed)
      return try #require(read.confirmed)
    }
    let proven = try first(isVerified: true)
    #expect(proven.idToken == Sample.tokens.idToken && proven.unprovenIDToken == nil)
    let unproven = try first(isVerified: false)
    #expect(unproven.idToken == nil && unproven.unprovenIDToken == Sample.tokens.idToken)
    expect(unproven.refreshToken, is: Sample.tokens.refreshToken)
  }

  @Test("every field of the outbox survives the store")
  func outboxRoundTrip() throws {
    var second = Sample.outboxEntry
    second.message = .revocation(.init(clientID: "client", token: Secret([0, 255]), hint: "access_token"))
    second.endpoint = nil
    var third = Sample.outboxEntry
    third.message = .profile(account: "alice@example")
    var fourth = Sample.outboxEntry
    fourth.message = .errorReport("{\"code\":\"network\"}")
    let entries = [Sample.outboxEntry, second, third, fourth]
    try expect(OutboxDocument.decode(OutboxDocument.encoded(entries)), is: entries)
    #expect(try OutboxDocument.decode(OutboxDocument.encoded([])).isEmpty)
    try expect(InstallationDocument.decode(InstallationDocument.encoded("id")), is: "id")
  }

  @Test("every flow of a transaction that is not settled, in every status, survives the store")
  func transactionFlows() throws {
    for flow in Sample.flows {
      for status in [TransactionRecord.Status.pending, .cancelled, .exchanging] {
        var document = Sample.document
        document.record.transactions[0].flow = flow
        document.record.transactions[0].status = status
        try expect(AccountDocument(decoding: document.encoded()), is: document)
      }
    }
    expect(Set(Sample.flows.map { "\($0)".prefix { $0 != "(" } }).count, is: 7, "each flow is there")
  }

  @Test("what a PIN seals survives the store")
  func pin() throws {
    var envelope = PINEnvelope(salt: [1, 2], wrappedKey: [3])
    envelope.count(at: Moment(wall: UnixTime(seconds: 9), instant: Instant(nanoseconds: 5), bootID: "b"))
    let shut = AccountDocument(
      account: .default, lineage: "l", content: .underPIN(envelope, sealed: [0, 255], form: 1))
    try expect(AccountDocument(decoding: shut.encoded()), is: shut)
  }

  @Test("a profile as deep as JSON may be does not make the record unreadable (R37)")
  func deepProfile() throws {
    var value = JSON.bool(true)
    for _ in 0..<JSON.depthLimit { value = .object([("a", value)]) }
    var document = Sample.document
    document.record.profile = try JSON.parse(value.serialized()).object
    expect(document.record.profile, isNot: nil)
    try expect(AccountDocument(decoding: document.encoded()), is: document)
  }

  @Test("a record with any member missing, added or of another kind is corrupt, not half believed")
  func strict() throws {
    let whole = try JSON.parse(Sample.document.encoded().revealBytes())
    var refused = 0
    for changed in mutations(of: whole, path: []) {
      let text = Secret(changed.serialized())
      do {
        // Only optional members may be removed without an error.
        let isSame = try AccountDocument(decoding: text) == Sample.document
        #expect(!isSame)
      } catch {
        #expect(error.code == .storeCorrupt || error.code == .storeVersion, "\(error.message)")
        refused += 1
      }
    }
    #expect(refused > 150)
  }

  @Test("of two members of another kind the first one is told, whatever decodes it")
  func firstFault() throws {
    let whole = try JSON.parse(Sample.document.encoded().revealBytes())
    func message(_ keys: [String], in path: [String]) throws -> String {
      let changed = Secret(change(whole, path, keys).serialized())
      do { _ = try AccountDocument(decoding: changed) } catch { return error.message }
      return "read"
    }
    for path in [["record"], ["record", "confirmed"], ["record", "backoff"]] {
      let keys = path.reduce(whole) { $0.object?[$1] ?? .null }.object?.members.map(\.key) ?? []
      #expect(keys.count > 5)
      for (index, key) in keys.enumerated() {
        let alone = try message([key], in: path)
        #expect(alone.hasPrefix(path.joined(separator: ".") + "." + key))
        for later in keys[(index + 1)...] { try expect(message([key, later], in: path), is: alone) }
      }
    }
  }

  /// Changes the members with these keys to numbers that are not integers.
  private func change(_ value: JSON, _ path: [String], _ keys: [String]) -> JSON {
    var object = value.object ?? JSONObject()
    if let next = path.first {
      object[next] = change(object[next] ?? .null, Array(path.dropFirst()), keys)
    } else {
      for key in keys { object[key] = .number(0.5) }
    }
    return .object(object)
  }

  /// Single changes: a member removed, an unknown member added, a value of another kind.
  private func mutations(of value: JSON, path: [String]) -> [JSON] {
    switch value {
    case .object(let object):
      var results: [JSON] = []
      var stranger = object
      stranger["stranger"] = .null
      results.append(.object(stranger))
      for member in object.members {
        var without = object
        without[member.key] = nil
        results.append(.object(without))
        var other = object
        other[member.key] = .number(0.5)
        results.append(.object(other))
        for inner in mutations(of: member.value, path: path + [member.key]) {
          var changed = object
          changed[member.key] = inner
          results.append(.object(changed))
        }
      }
      return results
    case .array(let elements):
      return elements.indices.flatMap { index in
        ([.null] + mutations(of: elements[index], path: path)).map { inner in
          var changed = elements
          changed[index] = inner
          return .array(changed)
        }
      }
    default: return []
    }
  }

  @Test("a document by a newer program is refused as such, not as damage")
  func newerVersion() throws {
    var whole = try JSON.parse(Sample.document.encoded().revealBytes()).object
    whole?["version"] = .integer(AccountDocument.form.newest + 1)
    whole?["news"] = .bool(true)
    let text = Secret(JSON.object(try #require(whole)).serialized())
    expect(code { () throws(EnrollError) in _ = try AccountDocument(decoding: text) }, is: .storeVersion)
    expect(
      code { () throws(EnrollError) in _ = try AccountDocument(decoding: Secret("{}")) }, is: .storeCorrupt)
    expect(
      code { () throws(EnrollError) in _ = try AccountDocument(decoding: Secret("")) }, is: .storeCorrupt)
    let old = Secret("{\"version\":0}")
    expect(code { () throws(EnrollError) in _ = try OutboxDocument.decode(old) }, is: .storeCorrupt)
  }

  @Test("no error text holds anything that was in the record (R40)")
  func noSecretsInErrors() throws {
    let whole = try JSON.parse(Sample.document.encoded().revealBytes())
    for changed in mutations(of: whole, path: []) {
      do {
        _ = try AccountDocument(decoding: Secret(changed.serialized()))
      } catch {
        for secret in ["a.b.c", "\"access\"", "verifier\""] { #expect(!error.message.contains(secret)) }
      }
    }
  }

  private func code(_ body: () throws(EnrollError) -> Void) -> EnrollError.Code? {
    do { try body() } catch { return error.code }
    return nil
  }
}
