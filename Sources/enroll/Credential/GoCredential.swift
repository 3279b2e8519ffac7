// The command of GOAUTH (`go help goauth`, Go 1.24): go first runs this command without a URL. After a refusal, go
// runs it again, with the URL as an argument and the response on standard input.

import EnrollArguments

extension CredentialFormat {
  static let go = CredentialFormat(
    name: "go", programs: "go get, go mod and other commands of Go 1.24",
    setup: """
        go env -w GOAUTH="enroll credential go --host goproxy.example"

      If the proxy answers 401, go says so, and gets a new token within the same command, once a minute at most.
      """,
    alias: nil,
    arguments: [
      Parameter.optionalOperand("url", help: "The URL that was refused. go adds it after a refusal.").argument
    ], hasUsername: false
  ) { call in
    guard !call.word(0).isEmpty else {
      return CredentialQuestion(
        wish: .token, isAboutAllHosts: true,
        answer: { token, _ in
          answer(token, call.hosts.named.filter { $0.allows(scheme: "https") }.map { $0.host.text })
        })
    }
    let target = CredentialTarget(url: call.word(0))
    let isRefused = isUnauthorized(CredentialInput.text())
    return CredentialQuestion(
      wish: isRefused ? .another : .token, target: target,
      answer: { token, _ in answer(token, target.map { [$0.host.text] } ?? []) })
  }

  /// Whether the response has the status 401. Other statuses, such as 404, say nothing about the token.
  private static func isUnauthorized(_ response: String) -> Bool {
    let line = response.prefix { $0 != "\r" && $0 != "\n" && $0 != "\r\n" }
    return line.split(separator: " ").dropFirst().first == "401"
  }

  /// The answer for go: the prefixes of URLs, a blank line, the headers for these URLs, and a blank line.
  private static func answer(_ token: BearerToken, _ hosts: [String]) -> String {
    hosts.map { "https://\($0)\n" }.joined() + "\nAuthorization: Bearer \(token.text)\n\n"
  }
}
