// The credential helper of Bazel and other build systems (github.com/EngFlow/credential-helper-spec).

import EnrollArguments
import EnrollJSON

extension CredentialFormat {
  static let bazel = CredentialFormat(
    name: "bazel", programs: "Bazel, and other clients of the credential helper specification",
    setup: """
      Bazel passes no arguments. Link the program as enroll-bazel-credential in a folder of PATH:

        ln -s "$(command -v enroll)" ~/.local/bin/enroll-bazel-credential

      name the host in the profile:

        "credentialHosts": [{"host": "cache.example", "for": ["bazel"]}]

      and the program in .bazelrc:

        common --credential_helper=cache.example=enroll-bazel-credential
      """,
    alias: "enroll-bazel-credential",
    arguments: [
      Parameter.operand(
        "operation", help: "The operation: get. Bazel adds it.", completion: .words(["get"])
      ).argument
    ], hasUsername: false
  ) { call in
    guard call.word(0) == "get" else {
      return CredentialQuestion(wish: .none, nothing: .unknown(call.word(0), of: "get"))
    }
    let url = CredentialInput.json()?["uri"]?.string ?? ""
    // The specification requires an error for a host that the helper does not serve.
    let shown = Shown.text(String(url.prefix { $0 != "?" && $0 != "#" }))
    return CredentialQuestion(
      wish: .token, target: CredentialTarget(url: url),
      answer: { token, _ in
        let headers = JSON.object([("Authorization", .array([.string("Bearer \(token.text)")]))])
        let end = token.askAgainAt.map { JSON.string(InternetDate.text($0)) }
        return JSON.object([("headers", headers), ("expires", end)]).text + "\n"
      },
      nothing: CredentialAnswer(
        words:
          "there is no token for \(shown.isEmpty ? "a question without a URL" : shown): --host does not name it",
        status: .failed))
  }
}
