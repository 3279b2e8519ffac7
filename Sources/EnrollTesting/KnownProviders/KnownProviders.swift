// The dialects of the providers, with the evidence for each of their settings. Reading them fails if a setting has no
// evidence.

public import EnrollJSON
import Foundation

/// A known provider: its dialect, and the facts about it.
public struct KnownProvider: Sendable {
  /// The id in `Dialects.json`.
  public let id: String
  /// The provider's name for readers.
  public let name: String
  /// The behaviour of the provider.
  public let dialect: Dialect
  /// The facts about the part of the dialect that is this provider's own.
  public let facts: [Fact]
  /// The single values (leaves) in the part of the dialect that is this provider's own.
  public let leaves: [Leaf]
  /// All leaves of the dialect, including the leaves that the provider shares with another provider.
  public let basis: [Leaf]
  /// The whole dialect as JSON.
  let json: JSON

  /// The same provider with another setting in the provider's console, such as `{"refresh": {"graceSeconds": 30}}`. No
  /// fact is recorded for the change.
  /// - Throws: ``DialectError`` for a change that the fake does not support.
  public func with(_ changes: JSON) throws(DialectError) -> KnownProvider {
    let json = KnownProviders.merged(json, changes)
    return KnownProvider(
      id: id, name: name, dialect: try Dialect(json), facts: facts, leaves: leaves, basis: basis, json: json)
  }

  /// The number of this provider's own leaves that facts of this kind support.
  public func count(_ kind: Fact.Kind) -> Int { leaves.count { $0.kind == kind } }

  /// One value of a dialect.
  public struct Leaf: Equatable, Sendable {
    /// The path of the value.
    public let at: String
    /// The value in the dialect.
    public let value: JSON
    /// The kind of the fact that supports the value.
    public let kind: Fact.Kind
    /// The sources of that fact.
    public let sources: [String]
  }

  /// A statement about a provider, with its sources.
  public struct Fact: Sendable {
    /// The reliability of a fact.
    public enum Kind: String, Sendable, CaseIterable {
      /// Observed at the server. The source is a line of a recording, or a request that tests send to the
      /// running server.
      case measured
      /// Taken from the provider's own documents or source code.
      case documented
      /// Taken from issues, or from the code of other clients.
      case reported
      /// An assumption without a source.
      case guess
    }

    /// A path in the dialect. The fact supports all values at or below it.
    public let at: String
    /// The reliability of the fact.
    public let kind: Kind
    /// The sources; empty for a guess.
    public let sources: [String]
    /// The text of the source, if the dialect simplifies it.
    public let note: String?
  }
}

/// The providers whose dialects are known.
public enum KnownProviders {
  /// Every provider, in the order of the file.
  /// - Throws: ``DialectError`` if the data are inconsistent.
  public static func all() throws -> [KnownProvider] {
    guard let url = Bundle.module.url(forResource: "Dialects", withExtension: "json") else {
      throw DialectError("Dialects.json: missing")
    }
    return try all(JSON.parse(Array(Data(contentsOf: url))))
  }

  /// The provider with this id.
  public static func named(_ id: String) throws -> KnownProvider {
    guard let entry = try all().first(where: { $0.id == id }) else {
      throw DialectError("no provider has the id \(id)")
    }
    return entry
  }

  /// The providers of a file such as `Dialects.json`.
  public static func all(_ json: JSON) throws(DialectError) -> [KnownProvider] {
    var known: [String: (dialect: JSON, basis: [KnownProvider.Leaf])] = [:]
    var entries: [KnownProvider] = []
    for provider in json["providers"]?.array ?? [] {
      guard let id = provider["id"]?.string, let name = provider["name"]?.string, known[id] == nil,
        let own = provider["dialect"]
      else { throw DialectError("a provider needs an id of its own, a name and a dialect") }
      do throws(DialectError) {
        let facts = try self.facts(provider["facts"])
        let leaves = try self.leaves(own, facts)
        var whole = (dialect: own, basis: leaves)
        if let like = provider["like"]?.string {
          guard let other = known[like] else {
            throw DialectError("it is like \(like), which is not before it")
          }
          whole.dialect = merged(other.dialect, own)
          whole.basis += other.basis.filter { leaf in !leaves.contains { $0.at == leaf.at } }
        }
        known[id] = whole
        entries.append(
          KnownProvider(
            id: id, name: name, dialect: try Dialect(whole.dialect), facts: facts, leaves: leaves,
            basis: whole.basis, json: whole.dialect))
      } catch {
        throw DialectError("\(id): \(error.description)")
      }
    }
    return entries
  }

  static func merged(_ base: JSON, _ own: JSON) -> JSON {
    guard var object = base.object, let members = own.object?.members else { return own }
    for member in members {
      object[member.key] = object[member.key].map { merged($0, member.value) } ?? member.value
    }
    return .object(object)
  }

  private static func facts(_ json: JSON?) throws(DialectError) -> [KnownProvider.Fact] {
    var facts: [KnownProvider.Fact] = []
    for fact in json?.array ?? [] {
      guard let at = fact["at"]?.string,
        let kind = fact["kind"]?.string.flatMap({ KnownProvider.Fact.Kind(rawValue: $0) })
      else { throw DialectError("a fact needs a place and a kind") }
      let sources = fact["source"].flatMap { DialectReader.texts($0) } ?? []
      guard kind == .guess || !sources.isEmpty else { throw DialectError("\(at): \(kind) without a source") }
      facts.append(.init(at: at, kind: kind, sources: sources, note: fact["note"]?.string))
    }
    return facts
  }

  /// The leaves, each with the kind of the most specific fact that supports it.
  private static func leaves(
    _ dialect: JSON, _ facts: [KnownProvider.Fact]
  ) throws(DialectError) -> [KnownProvider.Leaf] {
    var leaves: [KnownProvider.Leaf] = []
    var used: Set<String> = []
    for (path, value) in values(dialect, "") {
      let above = facts.filter { path == $0.at || path.hasPrefix($0.at + "/") }
      guard let fact = above.max(by: { $0.at.count < $1.at.count }) else {
        throw DialectError("\(path): no fact speaks for it")
      }
      used.formUnion(above.map(\.at))
      leaves.append(.init(at: path, value: value, kind: fact.kind, sources: fact.sources))
    }
    if let fact = facts.first(where: { !used.contains($0.at) }) {
      throw DialectError("\(fact.at): a fact about nothing")
    }
    return leaves
  }

  private static func values(_ json: JSON, _ path: String) -> [(String, JSON)] {
    guard let members = json.object?.members, !members.isEmpty else { return [(path, json)] }
    return members.flatMap { values($0.value, "\(path)/\($0.key)") }
  }
}
