// The command `keyring`, which pip and uv run to get a password (pip, "Authentication"; uv, "keyring-provider").

import EnrollArguments
import EnrollJSON

extension CredentialFormat {
  static let keyring = CredentialFormat(
    name: "keyring", programs: "pip, uv, twine",
    setup: """
      Write a program keyring into a folder that only comes into PATH for pip or uv, because others want their own keyring:

        #!/bin/sh
        exec enroll credential keyring --host pypi.example -- "$@"

      and run:

        PATH=~/.local/lib/enroll-keyring:$PATH pip install --keyring-provider subprocess hello
        PATH=~/.local/lib/enroll-keyring:$PATH uv pip install --keyring-provider subprocess hello

      pip asks for an index without a user name too. uv wants one: https://oauth2@pypi.example/simple.
      """,
    alias: nil,
    arguments: [
      Parameter.rest(
        "arguments", help: "After --: the arguments of keyring.",
        whenMissing: "The arguments of keyring are missing. Write them behind two dashes."
      ).argument
    ], hasUsername: true
  ) { call in
    let line = KeyringLine(call.words)
    switch line.operands.first {
    case "get":
      return CredentialQuestion(
        // A host without a scheme gets no token, because its URL may use http: pip asks first for the URL, and then
        // for the host alone.
        wish: .token, target: CredentialTarget(url: line.operand(1) ?? ""),
        answer: { line.answer($0, line.operand(2) ?? $1) }, nothing: CredentialAnswer(status: .failed))
    case "set", "del": return CredentialQuestion(wish: .none, nothing: .storesNothing())
    default:
      return CredentialQuestion(
        wish: .none, nothing: .unknown(line.operands.first ?? "", of: "get, set or del"))
    }
  }
}

/// A command line of keyring.
private struct KeyringLine {
  private(set) var operands: [String] = []
  private var wantsCredential = false
  private var wantsJSON = false

  init(_ words: [String]) {
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("-") else {
        operands.append(word)
        continue
      }
      var (name, value) = (word, "")
      if let equals = word.firstIndex(of: "=") {
        (name, value) = (String(word[..<equals]), String(word[equals...].dropFirst()))
      } else if ["--mode", "--output"].contains(name) {
        value = rest.popFirst() ?? ""
      }
      if name == "--mode" { wantsCredential = value == "creds" }
      if name == "--output" { wantsJSON = value == "json" }
    }
  }

  func operand(_ index: Int) -> String? { operands.indices.contains(index) ? operands[index] : nil }

  func answer(_ token: BearerToken, _ username: String) -> String {
    switch (wantsCredential, wantsJSON) {
    case (true, true):
      JSON.object([("username", .string(username)), ("password", .string(token.text))]).text + "\n"
    case (true, false): "\(username)\n\(token.text)\n"
    case (false, true): JSON.object([("password", .string(token.text))]).text + "\n"
    case (false, false): "\(token.text)\n"
    }
  }
}
