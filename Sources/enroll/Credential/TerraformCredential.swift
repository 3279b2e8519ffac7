// The credentials helper of Terraform and OpenTofu (Terraform Internals, "Credentials Helpers"). If `get` fails,
// Terraform does not show what the helper printed.

import EnrollArguments
import EnrollJSON

extension CredentialFormat {
  static let terraform = CredentialFormat(
    name: "terraform", programs: "Terraform, OpenTofu",
    setup: """
      Link the program as ~/.terraform.d/plugins/terraform-credentials-enroll:

        ln -s "$(command -v enroll)" ~/.terraform.d/plugins/terraform-credentials-enroll

      and name it in ~/.terraformrc:

        credentials_helper "enroll" {
          args = ["--host", "registry.example"]
        }

      The hosts can be in the profile instead; enroll setup terraform registry.example does that, with args left out:

        "credentialHosts": [{"host": "registry.example", "for": ["terraform"]}]
      """,
    alias: "terraform-credentials-enroll",
    arguments: [
      Parameter.operand(
        "operation", help: "Terraform's operation: get, store or forget. Terraform adds it.",
        completion: .words(["get", "store", "forget"])
      ).argument,
      Parameter.operand("hostname", help: "The host. Terraform adds it.").argument,
    ], hasUsername: false
  ) { call in
    switch call.word(0) {
    case "get":
      return CredentialQuestion(
        wish: .token, target: CredentialTarget(scheme: "https", host: call.word(1)),
        answer: { token, _ in JSON.object([("token", .string(token.text))]).text + "\n" },
        nothing: CredentialAnswer(output: "{}\n"))
    case "store", "forget": return CredentialQuestion(wish: .none, nothing: .storesNothing())
    case let word:
      return CredentialQuestion(wish: .none, nothing: .unknown(word, of: "get, store or forget"))
    }
  }
}
