// The credential helper of Docker (github.com/docker/docker-credential-helpers). Docker shows what the helper prints
// on standard output as the reason for a failure.

import EnrollArguments
import EnrollHost
import EnrollJSON
import EnrollRules

extension CredentialFormat {
  static let docker = CredentialFormat(
    name: "docker", programs: "Docker, Podman, Helm, skopeo, crane, oras",
    setup: """
      These programs pass no arguments. This writes everything that they need, and shows it first:

        enroll setup docker registry.example

      By hand: link the program as docker-credential-enroll in a folder of PATH:

        ln -s "$(command -v enroll)" ~/.local/bin/docker-credential-enroll

      name the registry in the profile:

        "credentialHosts": [{"host": "registry.example", "for": ["docker"]}]

      and in ~/.docker/config.json:

        {"credHelpers": {"registry.example": "enroll"}}
      """,
    alias: "docker-credential-enroll",
    arguments: [
      Parameter.operand(
        "operation", help: "Docker's operation: get, list, store, erase or version. Docker adds it.",
        completion: .words(["get", "list", "store", "erase", "version"])
      ).argument
    ], hasUsername: true
  ) { call in
    switch call.word(0) {
    case "get": return DockerRegistry(CredentialInput.text()).question
    case "list": return CredentialQuestion(wish: .none, nothing: CredentialAnswer(output: "{}\n"))
    case "version":
      let line = "docker-credential-enroll (enroll) v\(LibraryVersion.string)\n"
      return CredentialQuestion(wish: .none, nothing: CredentialAnswer(output: line))
    // There is nothing to erase: `docker logout` asks for this, but `docker login` stored nothing here.
    case "erase": return CredentialQuestion(wish: .none)
    case "store":
      let words = "no password is stored: enroll login signs in"
      return CredentialQuestion(
        wish: .none, nothing: CredentialAnswer(output: words + "\n", status: .failed))
    case let word:
      return CredentialQuestion(
        wish: .none, nothing: .unknown(word, of: "get, list, store, erase or version"))
    }
  }
}

/// A registry as Docker names it: a host, or a URL.
private struct DockerRegistry {
  let text: String

  init(_ input: String) {
    // The text is split by bytes, because Swift reads CR and LF together as one Character.
    let word = input.utf8.split(whereSeparator: { "\r\n ".utf8.contains($0) }).first
    text = word.map { String(Substring($0)) } ?? ""
  }

  private var target: CredentialTarget? {
    // A registry without a scheme counts as https. Most programs use http for a registry on this machine, but a
    // connection within one machine needs no encryption.
    CredentialTarget(url: ASCII.contains(text, "://") ? text : "https://\(text)")
  }

  var question: CredentialQuestion {
    CredentialQuestion(
      wish: .token, target: target,
      answer: { token, username in
        let answer = JSON.object([
          ("ServerURL", .string(text)), ("Username", .string(username)), ("Secret", .string(token.text)),
        ])
        return answer.text + "\n"
      },
      // The programs that start the helper recognize this text, and then continue without a credential.
      nothing: CredentialAnswer(output: "credentials not found in native keychain\n", status: .failed),
      failed: { "enroll: \(Shown.message($0.message))\n" })
  }
}
