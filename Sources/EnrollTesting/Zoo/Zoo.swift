// The dialects with the facts that they rest on. What no fact speaks for is refused.

public import EnrollJSON
import Foundation

/// A provider of the zoo: its dialect, and what is known of it.
public struct ZooEntry: Sendable {
  /// As in `Dialects.json`.
  public let id: String
  /// For people.
  public let name: String
  /// What the provider does.
  public let dialect: Dialect
  /// What each leaf of its own part of the dialect rests on.
  public let facts: [Fact]
  /// The leaves of its own part of the dialect.
  public let leaves: [Leaf]
  /// All leaves of the dialect, with those that it has in common with another provider.
  public let basis: [Leaf]
  /// The whole dialect as it is written.
  let json: JSON

  /// The same provider with another setting of its console: `{"refresh": {"graceSeconds": 30}}`. No fact speaks for that.
  /// - Throws: ``DialectError`` for what the fake does not play.
  public func with(_ changes: JSON) throws(DialectError) -> ZooEntry {
    let json = Zoo.merged(json, changes)
    return ZooEntry(
      id: id, name: name, dialect: try Dialect(json), facts: facts, leaves: leaves, basis: basis, json: json)
  }

  /// How many leaves of its own rest on facts of that kind.
  public func count(_ kind: Fact.Kind) -> Int { leaves.count { $0.kind == kind } }

  /// One value of a dialect.
  public struct Leaf: Equatable, Sendable {
    /// Its path.
    public let at: String
    /// Of the fact that it rests on.
    public let kind: Fact.Kind
  }

  /// A statement about a provider, and where it was read.
  public struct Fact: Sendable {
    /// How sure it is.
    public enum Kind: String, Sendable, CaseIterable {
      /// In the provider's own words, documents or source.
      case documented
      /// In issues, and in the code of other clients.
      case reported
      /// Nobody says so.
      case guess
    }

    /// A path in the dialect; it speaks for all that is below.
    public let at: String
    /// How sure it is.
    public let kind: Kind
    /// Where it was read; empty for a guess.
    public let sources: [String]
    /// The words of the source, where the dialect simplifies them.
    public let note: String?
  }
}

/// The providers whose dialects are known.
public enum Zoo {
  /// Every provider, in the order of the file.
  /// - Throws: ``DialectError`` when the data contradicts itself.
  public static func entries() throws -> [ZooEntry] {
    guard let url = Bundle.module.url(forResource: "Dialects", withExtension: "json") else {
      throw DialectError("Dialects.json: missing")
    }
    return try entries(JSON.parse(Array(Data(contentsOf: url))))
  }

  /// The provider of that name.
  public static func entry(_ id: String) throws -> ZooEntry {
    guard let entry = try entries().first(where: { $0.id == id }) else {
      throw DialectError("no provider has the id \(id)")
    }
    return entry
  }

  /// The providers of a file such as `Dialects.json`.
  public static func entries(_ json: JSON) throws(DialectError) -> [ZooEntry] {
    var known: [String: (dialect: JSON, basis: [ZooEntry.Leaf])] = [:]
    var entries: [ZooEntry] = []
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
          ZooEntry(
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

  private static func facts(_ json: JSON?) throws(DialectError) -> [ZooEntry.Fact] {
    var facts: [ZooEntry.Fact] = []
    for fact in json?.array ?? [] {
      guard let at = fact["at"]?.string,
        let kind = fact["kind"]?.string.flatMap({ ZooEntry.Fact.Kind(rawValue: $0) })
      else { throw DialectError("a fact needs a place and a kind") }
      let sources = fact["source"].flatMap { DialectReader.texts($0) } ?? []
      guard kind == .guess || !sources.isEmpty else { throw DialectError("\(at): \(kind) without a source") }
      facts.append(.init(at: at, kind: kind, sources: sources, note: fact["note"]?.string))
    }
    return facts
  }

  /// The leaves, each with the kind of the fact that is nearest above it.
  private static func leaves(
    _ dialect: JSON, _ facts: [ZooEntry.Fact]
  ) throws(DialectError) -> [ZooEntry.Leaf] {
    var leaves: [ZooEntry.Leaf] = []
    var used: Set<String> = []
    for path in paths(dialect, "") {
      let above = facts.filter { path == $0.at || path.hasPrefix($0.at + "/") }
      guard let fact = above.max(by: { $0.at.count < $1.at.count }) else {
        throw DialectError("\(path): no fact speaks for it")
      }
      used.formUnion(above.map(\.at))
      leaves.append(.init(at: path, kind: fact.kind))
    }
    if let fact = facts.first(where: { !used.contains($0.at) }) {
      throw DialectError("\(fact.at): a fact about nothing")
    }
    return leaves
  }

  private static func paths(_ json: JSON, _ path: String) -> [String] {
    guard let members = json.object?.members, !members.isEmpty else { return [path] }
    return members.flatMap { paths($0.value, "\(path)/\($0.key)") }
  }
}
