import EnrollRules
import EnrollJSON
import Expectations
import Testing

@testable import EnrollCommands

@Suite("The manifest")
struct ManifestTests {
  private let manifest = Manifest.json

  /// The schema itself, even if `schema` is only a reference to it.
  private func whole(_ schema: JSON?) -> JSON? {
    guard let name = schema?["$ref"]?.string?.split(separator: "/").last else { return schema }
    return manifest["$defs"]?[String(name)]
  }

  @Test("it names every command of the table, once and in order")
  func commands() {
    let names = manifest["commands"]?.array?.compactMap { $0["name"]?.string }
    expect(names, is: CommandTable.all.map(\.name))
    expect(Set(names ?? []).count, is: names?.count)
  }

  @Test(
    "every command says in words what it is, and describes input and output",
    arguments: CommandTable.all.map(\.name))
  func documentation(name: String) throws {
    let command = try #require(CommandTable.command(name))
    let entry = try #require(manifest["commands"]?.array?.first { $0["name"] == .string(name) })
    #expect(command.summary.hasSuffix("."))
    expect(entry["kind"], is: .string(command.kind.rawValue))
    expect(entry["since"]?.string?.isEmpty, is: false)
    expect(entry["input"]?["type"], is: .string("object"))
    expect(entry["input"]?["additionalProperties"], is: .bool(false))
    expect(whole(entry["output"])?.object?.isEmpty, is: false)
    expect(entry["method"], is: .string(command.method))
    expect(entry["source"]?.string, is: command.source)
    expect(entry["errors"]?.array?.map(\.string), is: command.errors.codes.map(\.name))
    let properties = entry["input"]?["properties"]?.object?.members ?? []
    expect(properties.map(\.key), is: command.input.properties.map(\.name))
    for property in properties {
      let isDescribed =
        property.value["description"] != nil || property.value["anyOf"] != nil
        || whole(property.value)?["description"] != nil
      #expect(isDescribed, "\(property.key)")
    }
  }

  @Test("it holds every event that a client can raise")
  func events() {
    let raised: [EnrollEvent] = [
      .registrationChanged(.starting), .registrationSettled(.starting),
      .tokenRenewed(expiresAt: UnixTime(seconds: 0)), .tokenRenewalFailed(EnrollError(.network, "")),
      .logoutFinished, .errorReported(EnrollError(.network, "")),
    ]
    expect(manifest["events"]?.array?.map { $0["name"]?.string }, is: raised.map(\.name))
  }

  @Test("it holds every request that a host may be asked, with what is told and what may be answered")
  func requests() throws {
    let requests = try #require(manifest["requests"]?.array)
    expect(
      requests.map { $0["name"]?.string },
      is: [
        "host.http.send", "host.store.get", "host.store.set", "host.store.remove",
      ])
    for (entry, request) in zip(requests, HostRequest.all) {
      #expect(request.summary.hasSuffix("."))
      expect(entry["since"]?.string?.isEmpty, is: false)
      // Results of commands may get new members in later versions, so their schemas allow other members. The
      // schemas of a host's answers do not.
      expect(entry["input"]?["additionalProperties"], is: nil)
      expect(entry["output"]?["additionalProperties"], is: .bool(false))
      expect(entry["errors"]?.array?.isEmpty, is: false)
      for property in entry["input"]?["properties"]?.object?.members ?? [] {
        expect(property.value["description"], isNot: nil, "\(request.name): \(property.key)")
      }
    }
  }

  @Test("it holds every error, with a code of the range that JSON-RPC leaves to servers")
  func errors() throws {
    let errors = try #require(manifest["errors"]?.array)
    expect(errors.map { $0["status"]?.string }, is: EnrollError.Code.allCases.map(\.name))
    var codes: Set<Int64> = []
    for error in errors {
      let code = try #require(error["rpcCode"]?.integer)
      #expect((-32_099 ... -32_000).contains(code) || code == -32_602)
      #expect(codes.insert(code).inserted, "\(code) twice")
    }
  }

  @Test("the schema of a configuration comes from the table of its keys, in all spellings")
  func configuration() throws {
    let open = try #require(manifest["commands"]?.array?.first { $0["name"] == .string("client.open") })
    let schema = try #require(whole(open["input"]?["properties"]?["configuration"]))
    let properties = try #require(schema["properties"]?.object)
    for key in Configuration.keys {
      for spelling in [key.name] + key.otherSpellings {
        expect(properties[spelling], isNot: nil, "\(spelling)")
      }
    }
    expect(properties.members.count, is: Configuration.keys.reduce(0) { $0 + 1 + $1.otherSpellings.count })
    expect(properties["standInToken"]?["writeOnly"], is: .bool(true))
    expect(schema["additionalProperties"], is: .bool(false))
  }

  @Test("a name is that of one type: wherever it stands, what it names is the same")
  func types() {
    var met: [String: JSON] = [:]
    func meet(_ schema: Schema, _ direction: Schema.Direction) {
      var types = JSONObject()
      _ = schema.document(direction, &types)
      for type in types.members {
        #expect(met[type.key] == nil || met[type.key] == type.value, "\(type.key)")
        expect(type.value["description"]?.string?.isEmpty, is: false, "\(type.key) says nothing about itself")
        met[type.key] = type.value
      }
    }
    for command in CommandTable.all {
      for property in command.input.properties { meet(property.schema, .input) }
      meet(command.output, .output)
      for property in command.output.properties { meet(property.schema, .output) }
    }
    for event in EventKind.all { meet(event.parameters, .output) }
    meet(.error, .output)
    expect(manifest["$defs"]?.object?.members.map(\.key).sorted(), is: met.keys.sorted())
  }

  @Test("a command names no error that every command may answer, and none twice")
  func commandErrors() {
    for command in CommandTable.all {
      let common = CommandErrors.every + (command.usesClient ? CommandErrors.client : [])
      let codes = command.errors.codes
      expect(Set(codes).count, is: codes.count, "\(command.name)")
      #expect(codes.allSatisfy { !common.contains($0) }, "\(command.name)")
    }
  }

  @Test("a command that may run on a thread that never waits needs no store and no network")
  func memoryCommands() {
    let memory = CommandTable.all.filter { $0.kind == .memory }.map(\.name)
    expect(
      memory,
      is: [
        "system.describe", "platform.ready", "client.close", "pkce.generate", "redirect.parse",
        "redirect.route",
        "link.parse",
        "expiry.check", "events.subscribe", "events.unsubscribe",
      ])
    expect(
      CommandTable.all.filter { $0.kind == .parked }.map(\.name),
      is: [
        "token.access", "token.refresh", "token.rejected",
      ])
  }
}
