// What the program remembers between its runs about tokens that it has printed, in a small file in the user's state
// directory, which only the user can read. A token appears in it as a digest (R40).

import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollRules

struct RenewalNotes {
  private static let name = "tokens.json"
  /// The most tokens that are remembered, the latest ones.
  private static let limit = 64

  /// Whether the token was printed in the last `seconds`, for a program that asks again after a refusal.
  func hasPrinted(_ token: String, within seconds: Int64, of now: Int64) -> Bool {
    guard let at = Self.read("printed")?[Self.digest(token)]?.integer else { return false }
    return (0...seconds).contains(now - at)
  }

  func add(printed token: String, at now: Int64) { Self.add(token, .integer(now), to: "printed") }

  /// Whether a renewal gave no id_token after this one, so that another renewal is pointless.
  func hasNoSuccessor(_ idToken: String) -> Bool { Self.read("last")?[Self.digest(idToken)] != nil }

  func add(withoutSuccessor idToken: String) { Self.add(idToken, .bool(true), to: "last") }

  private static func digest(_ token: String) -> String {
    (try? Digest.sha256.hash(Array(token.utf8))).map { Base64URL.encode(Array($0.prefix(16))) } ?? ""
  }

  private static func read(_ member: String) -> JSON? {
    path.flatMap { try? UserDirectories.readConfiguration(at: $0, called: $0) }?[member]
  }

  /// A failed write is ignored: the next run then renews once more.
  private static func add(_ token: String, _ value: JSON, to member: String) {
    guard let path else { return }
    var document =
      (try? UserDirectories.readConfiguration(at: path, called: path))?.object ?? JSONObject()
    let digest = digest(token)
    let others = (document[member]?.object?.members ?? []).filter { $0.key != digest }.suffix(limit - 1)
    var kept = JSONObject()
    for other in others { kept[other.key] = other.value }
    kept[digest] = value
    document[member] = .object(kept)
    do throws(Failure) {
      try Folders.make(Folders.parent(of: path))
      try Folders.write(JSON.object(document).text + "\n", to: path)
    } catch {}
  }

  private static var path: String? { (try? UserDirectories.state()).map { "\($0)/\(name)" } }
}
