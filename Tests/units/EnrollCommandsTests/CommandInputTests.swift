import EnrollRules
import EnrollJSON
import Expectations
import Testing

@testable import EnrollCommands

@Suite("Input of commands")
struct CommandInputTests {
  private let session = Session()

  private func refusal(_ command: Command, _ parameters: JSON) -> EnrollError? {
    do throws(EnrollError) {
      _ = try session.call(command.name, parameters)
      return nil
    } catch {
      return error
    }
  }

  /// An input that the schema accepts.
  private func acceptable(_ schema: Schema) -> JSON {
    switch schema.shape {
    case .text: .string("x")
    case .boolean: .bool(true)
    case .integer(let range): .integer(range.lowerBound)
    case .oneOf(let names): .string(names.first ?? "")
    case .list: .array([])
    case .texts, .claims, .configuration: .object([])
    case .object(let properties):
      .object(properties.filter { $0.isRequired }.map { ($0.name, acceptable($0.schema)) })
    case .anyOf(let schemas): schemas.first.map { acceptable($0) } ?? .null
    }
  }

  private func input(_ command: Command, with name: String? = nil, _ value: JSON? = nil) -> JSON {
    guard case .object(var object) = acceptable(command.input) else { return .null }
    if let name { object[name] = value }
    return .object(object)
  }

  @Test("an unknown parameter is refused by every command", arguments: CommandTable.all.map(\.name))
  func unknown(name: String) throws {
    let command = try #require(CommandTable.command(name))
    let error = refusal(command, input(command, with: "frobnicate", .bool(true)))
    expect(error?.code, is: .invalidArgument)
    expect(error?.field, is: "frobnicate")
  }

  @Test("anything but an object is refused by every command", arguments: CommandTable.all.map(\.name))
  func notAnObject(name: String) throws {
    let command = try #require(CommandTable.command(name))
    for json in [JSON.null, .array([]), .string("x"), .integer(1)] {
      expect(refusal(command, json)?.code, is: .invalidArgument)
    }
  }

  @Test("a missing required parameter is named by every command", arguments: CommandTable.all.map(\.name))
  func missing(name: String) throws {
    let command = try #require(CommandTable.command(name))
    for property in command.input.properties where property.isRequired {
      let error = refusal(command, input(command, with: property.name, nil))
      expect(error?.code, is: .invalidArgument)
      expect(error?.field, is: property.name)
    }
  }

  @Test("a parameter of a wrong type is named by every command", arguments: CommandTable.all.map(\.name))
  func wrongType(name: String) throws {
    let command = try #require(CommandTable.command(name))
    for property in command.input.properties {
      for wrong in [
        JSON.null, .bool(true), .number(0.5), .string("x"), .array([.null]), .object([("x", .null)]),
      ] {
        guard (try? property.schema.check(wrong)) == nil else { continue }
        let error = refusal(command, input(command, with: property.name, wrong))
        expect(error?.code, is: .invalidArgument, "\(property.name)")
        expect(error?.field?.hasPrefix(property.name), is: true, "\(property.name)")
      }
    }
  }

  @Test("a number out of range is named by every command", arguments: CommandTable.all.map(\.name))
  func outOfRange(name: String) throws {
    let command = try #require(CommandTable.command(name))
    for property in command.input.properties {
      guard case .integer(let range) = property.schema.shape else { continue }
      if range.lowerBound > .min {
        let error = refusal(command, input(command, with: property.name, .integer(range.lowerBound - 1)))
        expect(error?.field, is: property.name)
      }
      if range.upperBound < .max {
        let error = refusal(command, input(command, with: property.name, .integer(range.upperBound + 1)))
        expect(error?.field, is: property.name)
      }
    }
  }

  @Test(
    "a handle that was never given is refused, however it is spelt",
    arguments: ["", "c", "c0", "c1", "c01", "c-1", "c+1", "C1", " c1", "c1 ", "c18446744073709551616", "1"])
  func unknownHandle(handle: String) {
    for command in CommandTable.all where command.usesClient {
      let error = refusal(command, input(command, with: "client", .string(handle)))
      expect(error?.code, is: .handle)
    }
  }

  @Test("an unknown command is refused")
  func unknownCommand() {
    for name in ["", "token", "token.accesss", "Token.access", "system.describe\u{301}"] {
      let error = #expect(throws: EnrollError.self) { try session.call(name) }
      expect(error?.code, is: .notFound)
    }
  }

  @Test("exactly one of a configuration and its name opens a client")
  func configurationSource() {
    for parameters in [
      JSON.object([]), .object([("configuration", .object([])), ("configurationName", .string("dev"))]),
    ] {
      let error = #expect(throws: EnrollError.self) { try session.call("client.open", parameters) }
      expect(error?.code, is: .invalidArgument)
      expect(error?.field, is: "configuration")
    }
  }

  @Test("a library has no configurations by name and no default store")
  func noSurroundings() {
    let named = #expect(throws: EnrollError.self) {
      try session.call("client.open", .object([("configurationName", .string("dev"))]))
    }
    expect(named?.code, is: .unsupported)
    let unstored = #expect(throws: EnrollError.self) {
      try session.call(
        "client.open",
        .object([
          (
            "configuration",
            .object([
              ("issuer", .string("https://id.example")), ("clientId", .string("app")),
              ("redirectUri", .string("com.example.app:/cb")),
            ])
          )
        ]))
    }
    expect(unstored?.field, is: "store")
  }

  @Test("a face that cannot ask its host says so where HTTP or secrets are to come from it")
  func noHost() {
    let configuration = JSON.object([
      ("issuer", .string("https://id.example")), ("clientId", .string("app")),
      ("redirectUri", .string("com.example.app:/cb")),
    ])
    let host = JSON.object([("provider", .string("host"))])
    for (command, parameters, field) in [
      ("client.open", [("store", .string("memory")), ("transport", .string("host"))], "transport"),
      ("client.open", [("store", .string("/tmp")), ("keys", host)], "keys"),
      ("store.diagnose", [("store", .string("/tmp")), ("keys", host)], "keys"),
    ] as [(String, [(String, JSON?)], String)] {
      let opens = command == "client.open"
      let more = opens ? [("configuration", configuration)] : []
      let error = #expect(throws: EnrollError.self) {
        try session.call(command, .object(parameters + more))
      }
      expect(error?.code, is: .unsupported)
      expect(error?.field, is: field)
    }
    // `CommandTable.call`, which calls a command by its name, also refuses keys that a host provides.
    let error = #expect(throws: EnrollError.self) {
      try CommandTable.call(
        "store.diagnose", .object([("store", .string("/tmp")), ("keys", host)]), client: nil,
        deadline: .distantFuture, cancellation: nil)
    }
    expect(error?.code, is: .unsupported)
  }

  @Test("a configuration that breaks a rule is refused by its key")
  func badConfiguration() {
    let error = #expect(throws: EnrollError.self) {
      try session.call(
        "client.open",
        .object([
          (
            "configuration",
            .object([
              ("issuer", .string("https://id.example")), ("clientId", .string("")),
              ("redirectUri", .string("com.example.app:/cb")),
            ])
          ),
          ("store", .string("memory")),
        ]))
    }
    expect(error?.code, is: .configuration)
    expect(error?.field, is: "clientId")
  }
}
