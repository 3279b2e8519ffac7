// The state of a store as JSON: the result of store.diagnose, and the store in `enroll doctor --json`.

import EnrollRules
import EnrollSteps
package import EnrollJSON
package import EnrollStore

extension StoreDiagnosis {
  /// - Parameters:
  ///   - found: nil if there is no such directory.
  ///   - path: the directory of the store.
  package static func json(_ found: StoreDiagnosis?, of path: String) -> JSON {
    guard let found else { return .object([("store", .string(path)), ("exists", .bool(false))]) }
    return .object([
      ("store", .string(path)), ("exists", .bool(true)), ("owner", .integer(Int64(found.owner))),
      ("permissions", .string(octal(found.permissions))),
      ("keyProviders", .array(found.keyProviders.map { .string($0) })),
      ("keyChoice", found.keyDecision?.json(found.keyCandidates)),
      ("accounts", .integer(Int64(found.accountCount))), ("setAside", .integer(Int64(found.setAsideCount))),
      ("files", .array(found.files.map { $0.json })),
      ("omittedFiles", found.omittedFileCount == 0 ? nil : .integer(Int64(found.omittedFileCount))),
      ("wrongModes", found.wrongModes.isEmpty ? nil : .array(found.wrongModes.map { $0.json })),
      ("problem", found.problem?.json),
    ])
  }

  /// Permission bits as text, for JSON and for people: `0700`.
  package static func octal(_ permissions: UInt32) -> String { "0" + String(permissions, radix: 8) }
}

extension StoreDiagnosis.WrongMode {
  fileprivate var json: JSON {
    .object([("name", .string(name)), ("permissions", .string(StoreDiagnosis.octal(permissions)))])
  }
}

extension KeyDecision {
  fileprivate func json(_ candidates: [KeyCandidate]) -> JSON {
    .object([
      ("provider", provider.map { .string($0) }), ("reason", .string(reason)),
      ("candidates", .array(candidates.map { $0.json })),
    ])
  }
}

extension KeyCandidate {
  fileprivate var json: JSON {
    let (word, reason): (String, String?) =
      switch presence {
      case .present: ("present", nil)
      case .locked(let why): ("locked", why)
      case .absent(let why): ("absent", why)
      }
    return .object([
      ("provider", .string(name)), ("presence", .string(word)), ("reason", reason.map { .string($0) }),
    ])
  }
}

extension StoredFile {
  fileprivate var json: JSON {
    .object([
      ("name", .string(name)), ("kind", .string(kind.rawValue)),
      ("setAsideFrom", originalName.map { .string($0) }),
      ("generation", generation.map { .string($0.description) }), ("pin", isUnderPIN ? .bool(true) : nil),
      ("account", account.map { .object($0) }), ("entries", entryCount.map { .integer(Int64($0)) }),
      ("problem", problem?.json),
    ])
  }
}
