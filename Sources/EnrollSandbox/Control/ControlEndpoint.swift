// The test controls over HTTP: `POST /_control` with one JSON object `{"do": …}`. The content type must be application/json,
// which a page of another site cannot send to this origin.

public import EnrollJSON

extension Provider {
  func control(_ http: SandboxRequest) -> SandboxAnswer {
    let type = http.headers["content-type"]?.lowercased() ?? ""
    guard type == "application/json" || type.hasPrefix("application/json;") else {
      return .json(.object([("error", .string("Content-Type must be application/json"))]), status: 415)
    }
    do {
      return .json(try control(JSON.parse(http.body)))
    } catch let error as ControlError {
      return .json(.object([("error", .string(error.description))]), status: 400)
    } catch {
      return .json(.object([("error", .string("\(error)"))]), status: 400)
    }
  }

  /// One control request, for example `{"do": "fault", "fault": "dropAfter", "endpoint": "token", "times": 1}`.
  public func control(_ request: JSON) throws -> JSON {
    let done = JSON.object([("done", .bool(true))])
    guard let name = request["do"]?.string, let action = Action(rawValue: name) else {
      throw ControlError("`do` must be one of: " + Action.allCases.map(\.rawValue).joined(separator: ", "))
    }
    switch action {
    case .fault:
      add(try Fault(request))
      return done
    case .clearFaults:
      clearFaults()
      return done
    case .faults: return .object([("faults", .array(FaultTable.rows.map(\.json)))])
    case .rotateKeys:
      try rotateKeys(keepsOld: request["keepOld"]?.bool ?? true)
      return done
    case .counts:
      let members = Endpoint.allCases.filter { $0 != .control }.map { endpoint -> (String, JSON?) in
        (endpoint.rawValue, .integer(Int64(count(endpoint))))
      }
      return .object([("counts", .object(members)), ("refreshes", .integer(Int64(refreshCount)))])
    case .resetCounts:
      resetCounts()
      return done
    case .log: return .object([("log", .array(log.map(\.json)))])
    case .sessions: return .object([("sessions", .array(sessions.map(\.json)))])
    case .endSessions:
      endSessions()
      return done
    case .signOutBrowsers:
      signOutBrowsers()
      return done
    case .advanceClock:
      let seconds = try Self.integer(request["seconds"], "`seconds` must be")
      advanceClock(seconds: seconds)
      return done
    case .settle:
      guard let url = request["url"]?.string else { throw ControlError("`url` must be an authorize URL") }
      let redirect = try settle(
        authorizeURL: url, user: request["user"]?.string ?? "alice", error: request["error"]?.string)
      return .object([("redirect", .string(redirect))])
    case .messages: return .object([("messages", .array(passwordlessMessages.map(\.json)))])
    case .device:
      guard let code = request["userCode"]?.string else {
        throw ControlError("`userCode` must be the code that a device shows")
      }
      try settleDevice(
        userCode: code, user: request["user"]?.string ?? "alice", denies: request["deny"]?.bool ?? false)
      return done
    case .received: return .object([("messages", .array(receivedMessages.map(\.json)))])
    case .setKnown:
      setKnown(request["known"]?.bool ?? true, user: request["user"]?.string ?? "alice")
      return done
    case .verifyEmail:
      try verifyEmail(of: request["user"]?.string ?? "bob")
      return done
    case .otherApp:
      if let answer = request["answer"]?.string { try answerOtherApp(with: answer) }
      if let fields = request["fields"] {
        nameOtherAppFields(
          sessionID: fields["sessionId"]?.string ?? "sessionId", link: fields["link"]?.string ?? "link",
          artefactID: fields["artefactId"]?.string ?? "artefactId")
      }
      guard let link = request["link"]?.string else { return done }
      let redirect = try approve(otherAppLink: link, user: request["user"]?.string ?? "alice")
      return .object([("redirect", .string(redirect))])
    case .gateway:
      try changeGateway(request)
      return done
    case .register:
      guard let email = request["email"]?.string else { throw ControlError("`email` must be an address") }
      register(email: email, clientID: request["clientId"]?.string ?? options.clients.first?.id ?? "")
      return done
    case .mails: return .object([("mails", .array(mails.map(\.json)))])
    case .accounts:
      return .object([
        (
          "accounts",
          .object(
            gateway.accounts.sorted { $0.key < $1.key }.map { email, account in
              (email, .array(account.history.map { .string($0.rawValue) }))
            })
        )
      ])
    case .scanMails:
      scanMails()
      return done
    case .memory: return .object([("memory", try memory())])
    case .remember:
      guard let memory = request["memory"] else {
        throw ControlError("`memory` must be what `memory` answered")
      }
      try remember(memory)
      return done
    case .forgetClients:
      registeredClients = []
      return done
    case .configuration: return .object([("configuration", configuration)])
    }
  }

  private enum Action: String, CaseIterable {
    case fault, clearFaults, faults, rotateKeys, counts, resetCounts, log, sessions, endSessions,
      signOutBrowsers, advanceClock, settle, device, messages, otherApp, gateway,
      register,
      mails,
      accounts, scanMails, received, setKnown, verifyEmail, memory, remember, forgetClients,
      configuration
  }

  /// The limit for the numbers in a control request, so that the sum of such a number and a date cannot overflow.
  static let integerLimit: Int64 = 1_000_000_000_000

  /// - Parameter requirement: the beginning of the error message.
  static func integer(_ value: JSON?, _ requirement: String) throws -> Int64 {
    guard let integer = value?.integer, (-integerLimit...integerLimit).contains(integer) else {
      throw ControlError("\(requirement) an integer from -\(integerLimit) to \(integerLimit)")
    }
    return integer
  }

  private func changeGateway(_ request: JSON) throws {
    if let value = request["use"] {
      guard let flag = value.bool else { throw ControlError("`use` must be true or false") }
      gateway.settings.isUsed = flag
    }
    if let value = request["readsFromURI"] {
      guard let flag = value.bool else { throw ControlError("`readsFromURI` must be true or false") }
      gateway.settings.readsFromURI = flag
    }
    if let value = request["activationLink"] {
      guard let link = value.string, link.contains("{activationToken}") else {
        throw ControlError("`activationLink` must have {activationToken} in it")
      }
      gateway.settings.activationLink = link
    }
  }
}

extension Fault {
  /// Reads `{"fault": name, "endpoint": …, "value": …, "member": …, "retryAfter": …, "after": n, "times": n}`.
  public init(_ request: JSON) throws {
    guard let name = request["fault"]?.string, let row = FaultTable.row(name) else {
      throw ControlError("`fault` must be one of: " + FaultTable.rows.map(\.name).joined(separator: ", "))
    }
    var endpoint = row.endpoints.first ?? .token
    if let text = request["endpoint"]?.string {
      guard let named = Endpoint(rawValue: text), row.endpoints.contains(named) else {
        let known = row.endpoints.map(\.rawValue).joined(separator: ", ")
        throw ControlError("\(name) strikes at \(known), not at \(text)")
      }
      endpoint = named
    }
    var arguments = NamedFault.Arguments()
    if row.value.hasMember {
      guard let member = request["member"]?.string else { throw ControlError("\(name) needs a `member`") }
      arguments.member = member
    }
    arguments.retryAfter = request["retryAfter"]?.string ?? request["retryAfter"]?.integer.map { "\($0)" }
    let value = request["value"]
    switch row.value {
    case .none, .member: break
    case .integer:
      arguments.integer = try Provider.integer(value, "`value` of \(name) must be")
    case .text, .memberAndText:
      guard let text = value?.string else { throw ControlError("\(name) needs a string as `value`") }
      arguments.text = text
    case .any, .memberAndAny:
      guard let value else { throw ControlError("\(name) needs a `value`") }
      arguments.any = value
    }
    let after = request["after"]?.integer ?? 0
    let times = request["times"]?.integer
    guard after >= 0, times ?? 1 > 0 else { throw ControlError("`after` and `times` must not be negative") }
    self.init(
      row.make(endpoint, arguments), at: endpoint, after: Int(clamping: after),
      times: times.map { Int(clamping: $0) })
  }
}

extension SandboxMail {
  var json: JSON {
    .object([
      ("to", .string(to)), ("subject", .string(subject)), ("text", .string(text)),
      ("link", link.map { .string($0) }),
    ])
  }
}

extension NamedFault {
  var json: JSON {
    .object([
      ("fault", .string(name)), ("endpoints", .array(endpoints.map { .string($0.rawValue) })),
      ("value", .string(value.rawValue)), ("summary", .string(summary)),
    ])
  }
}

extension SandboxMessage {
  var json: JSON {
    .object([
      ("to", .string(to)), ("text", .string(text)), ("code", code.map { .string($0) }),
      ("link", link.map { .string($0) }),
    ])
  }
}

extension ReceivedMessage {
  var json: JSON {
    .object([
      ("endpoint", .string(endpoint.rawValue)), ("user", user.map { .string($0) }), ("body", body),
    ])
  }
}

extension SandboxSession {
  var json: JSON {
    .object([
      ("id", .string(id)), ("user", .string(user)), ("clientId", .string(clientID)),
      ("scopes", .array(scopes.map { .string($0) })), ("generation", .integer(Int64(generation))),
      ("end", end.map { .string($0) }),
    ])
  }
}
