// Recorded exchanges of real servers: JSON lines in a folder beside the repository, or in the folder that
// ENROLLKIT_REAL names.

import EnrollRules
import EnrollJSON
import Expectations
import Foundation

/// The folder of recordings.
enum Recording {
  static let folder: URL = {
    let named = ProcessInfo.processInfo.environment["ENROLLKIT_REAL"].map { URL(fileURLWithPath: $0) }
    return (named ?? Repository.top.deletingLastPathComponent().appendingPathComponent("shared/real"))
      .appendingPathComponent("recorded")
  }()

  static let isThere = FileManager.default.fileExists(atPath: folder.path)

  /// The exchange that `server:12` names, in line 12 of that server's recording.
  static func exchange(_ source: String) throws -> Exchange {
    let parts = source.split(separator: ":").map(String.init)
    let file = folder.appendingPathComponent("\(parts[0]).jsonl")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    guard parts.count == 2, let number = Int(parts[1]), lines.indices.contains(number - 1) else {
      throw CocoaError(.fileReadCorruptFile)
    }
    return Exchange(try JSON.parse(Array(lines[number - 1].utf8)))
  }
}

/// One request to a real server, and its response.
struct Exchange {
  let path: String
  let query, form: [String: String]
  let isAuthenticated: Bool
  let status: Int64
  /// The value of the response's `Location` header; empty if there is no such header.
  let location: String
  /// The body of the response, if it is JSON.
  let answer: JSON

  init(_ json: JSON) {
    let target = (json["path"]?.string ?? "").split(separator: "?", maxSplits: 1).map(String.init)
    path = target.first ?? ""
    query = Self.fields(target.count > 1 ? target[1] : "")
    form = Self.fields(json["body"]?.string ?? "")
    isAuthenticated =
      form["client_secret"] != nil || form["client_assertion"] != nil
      || Self.header("authorization", json["request"])?.hasPrefix("Basic ") ?? false
    status = json["status"]?.integer ?? 0
    location = Self.header("location", json["response"]) ?? ""
    answer = (try? JSON.parse(Array((json["answer"]?.string ?? "").utf8))) ?? .null
  }

  /// The parameters of the redirect.
  var returned: [String: String] {
    Self.fields(location.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "")
  }

  /// The claims of the response's id_token.
  var claims: JSON? {
    let parts = answer["id_token"]?.string?.split(separator: ".") ?? []
    guard parts.count == 3 else { return nil }
    return Base64URL.decode(String(parts[1])).flatMap { try? JSON.parse($0) }
  }

  /// The granted scopes in the response; nil if the response names no scopes.
  var granted: Set<String>? { answer["scope"]?.string.map { Set($0.split(separator: " ").map(String.init)) } }

  private static func header(_ name: String, _ headers: JSON?) -> String? {
    headers?.array?.first { $0.array?.first?.string?.lowercased() == name }?.array?.last?.string
  }

  private static func fields(_ text: String) -> [String: String] {
    text.split(separator: "&").reduce(into: [:]) { fields, pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? ""
      }
      fields[parts[0]] = parts.count > 1 ? parts[1] : ""
    }
  }
}
