// The steps of the engine: each is a small type that has only constants, and that holds only the parts of the
// state that it changes. The names are read from the text of the sources, which the formatter keeps in one
// form: two more columns for each level.

import Expectations
import Foundation
import Testing

/// A type of EnrollSteps, with the members of its declaration and of all its extensions.
private struct StepType {
  /// The stored properties, by name.
  var stored: [String: String] = [:]
  var variables: [String] = []
  var memberCount = 0
  var isStep = false

  private static func member() throws -> Regex<AnyRegexOutput> {
    try Regex(
      #"^  (?:@\w+ |[a-z]+(?:\(set\))? )*(?:func|var|let|init|case|subscript|typealias|struct|enum|class)\b"#)
  }

  /// Reads the types of one file.
  static func read(_ text: String, into types: inout [String: StepType]) throws {
    let header = try Regex(#"^(?:@\w+ |[a-z]+ )*(class|struct|enum|extension|protocol) (\w+)(.*)\{$"#)
    // The last two groups are the property's type and its first value; one of them may be missing.
    let property = try Regex(
      #"^  (?:(?:private|fileprivate|package|public) )*(let|var) (\w+)(?:: ([^={]+))?(?: = (.*))?$"#)
    let member = try member()
    var name: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let found = line.firstMatch(of: header) {
        let opened = String(found[2].substring ?? "")
        name = opened
        let bases = found[3].substring ?? ""
        if found[1].substring == "class", bases.contains("EngineStep") || bases.contains("StateChangingStep")
        {
          types[opened, default: StepType()].isStep = true
        }
      } else if line == "}" {
        name = nil
      } else if let name, line.contains(member) {
        types[name, default: StepType()].memberCount += 1
        if let found = line.firstMatch(of: property), let type = found[3].substring ?? found[4].substring,
          let key = found[2].substring
        {
          types[name]?.stored[String(key)] = type.trimmingCharacters(in: .whitespaces)
          if found[1].substring == "var" { types[name]?.variables.append(String(key)) }
        }
      }
    }
  }
}

@Suite("The steps of the engine")
struct StepTests {
  /// Each part of the state that has its own type, with the steps that hold the part. Only the methods of that type
  /// change the part. `Guarded` values of a single step are private to that step.
  private static let holders: [String: Set<String>] = [
    "StateMachine": [
      "RenewalReport", "CheckStep", "RegistrationStep", "TransactionStep", "AuthorizationStep",
      "ConclusionStep",
      "LogoutStep", "LinkStep", "PasswordlessStep", "App2AppStep", "PINStep", "SignInStep", "DiagnosticsStep",
    ],
    "CheckProgress": ["CheckStep", "RegistrationStep", "ConclusionStep", "LogoutStep"],
    "RenewalProgress": [
      "RenewalStep", "RenewalReport", "AccessStep", "CheckStep", "ConclusionStep", "LogoutStep",
    ],
    "UnsavedRenewal": [
      "RenewedTokensStep", "RenewalStep", "RegistrationStep", "ConclusionStep", "LogoutStep",
    ],
    "NonceCache": ["ClientRequests", "ProofStep"],
    "OutboxProgress": ["OutboxStep"],
  ]

  private static func sources() throws -> [(path: String, text: String)] {
    let top = Repository.top.appendingPathComponent("Sources/EnrollSteps")
    return try FileManager.default.subpathsOfDirectory(atPath: top.path).filter { $0.hasSuffix(".swift") }
      .map { ($0, try String(contentsOf: top.appendingPathComponent($0), encoding: .utf8)) }
  }

  private static func types() throws -> [String: StepType] {
    var types: [String: StepType] = [:]
    for source in try sources() { try StepType.read(source.text, into: &types) }
    return types
  }

  @Test("no type has more than 40 members, in all its files together")
  func sizes() throws {
    let types = try Self.types()
    #expect(try #require(types["Engine"]).memberCount > 10)
    for (name, type) in types { #expect(type.memberCount <= 40, "\(name): \(type.memberCount)") }
  }

  @Test("a step has constants only, and never the engine")
  func constants() throws {
    let steps = try Self.types().filter(\.value.isStep)
    #expect(steps.count > 25)
    for (name, step) in steps {
      #expect(step.stored["context"] == "EngineContext", "\(name)")
      #expect(step.variables == [], "\(name)")
    }
    for source in try Self.sources() where !source.path.hasPrefix("Engine/") {
      #expect(!DeclaredNames(source.text).bare.contains("Engine"), "\(source.path) names the engine")
    }
  }

  @Test("each part of the state belongs to the steps that change or read it, and to no other")
  func parts() throws {
    var found: [String: Set<String>] = [:]
    for (name, type) in try Self.types() where name != "Engine" {
      for part in type.stored.values where Self.holders[part] != nil { found[part, default: []].insert(name) }
      for (property, part) in type.stored where part.contains("Guarded") && type.isStep {
        #expect(["rejections", "exchangeStore"].contains(property), "\(name).\(property): \(part)")
      }
    }
    expect(found, is: Self.holders)
  }

  @Test("no step changes the parts of another step")
  func foreignParts() throws {
    let parts = "renewals|unsaved|checkProgress|nonces|progress|rejections|exchangeStore"
    // The names after `record.` are not counted, because the record of an account has nonces, too.
    let foreign = try Regex(#"\b(?!self\.|record\.)\w+\.(\#(parts))\."#)
    for source in try Self.sources() {
      for line in source.text.split(separator: "\n") where !line.contains("//") {
        #expect(!line.contains(foreign), "\(source.path): \(line)")
      }
    }
  }

  @Test("members are counted in the type and in its extensions, and not in bodies or nested types")
  func reader() throws {
    var types: [String: StepType] = [:]
    try StepType.read(
      """
      public final class AStep: StateChangingStep {
        let context: EngineContext
        private var unsaved: UnsavedRenewal
        private var count = 0
        var double: Int { 2 * count }
        struct Inner {
          let a: Int
        }
        init() {
          let local: Int = 1
        }
      }
      extension AStep {
        static var limit: Int { 4 }
        func f() {}
      }
      """, into: &types)
    let step = try #require(types["AStep"])
    #expect(step.isStep)
    expect(step.memberCount, is: 8)
    expect(step.stored, is: ["context": "EngineContext", "unsaved": "UnsavedRenewal", "count": "0"])
    expect(step.variables, is: ["unsaved", "count"])
  }
}
