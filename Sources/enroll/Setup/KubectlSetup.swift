// Sets up kubectl with `kubectl config`: adds a user that runs `enroll` to the kubeconfig file, and sets this user in
// each context of the host's cluster.

import EnrollJSON

extension SetupTool {
  static let kubectl = SetupTool(
    name: "kubectl", summary: "Make kubectl get the id_token for the cluster at a host.",
    hasCommandLine: true, takesResource: false,
    add: { request throws(Failure) in
      let settings = try KubernetesSettings(request)
      let contexts = settings.contexts
      guard !contexts.isEmpty else {
        throw Failure(
          .failed, "kubectl has no context of a cluster at \(request.host.text)",
          advice: "Add the cluster first, with kubectl config set-cluster and set-context.")
      }
      var plan = SetupPlan()
      let words = request.tokenWords
      if settings.words != words {
        let arguments = words.dropFirst().map { "--exec-arg=\(listItem($0))" }
        plan.steps.append(
          .run(
            ["kubectl", "config", "set-credentials", settings.user, "--exec-command=\(words[0])"] + arguments
              + [
                "--exec-api-version=client.authentication.k8s.io/v1", "--exec-interactive-mode=Never",
              ]))
      }
      for context in contexts where context.user != settings.user {
        plan.steps.append(
          .run(["kubectl", "config", "set-context", context.name, "--user=\(settings.user)"]))
      }
      // A context with another user is not changed, because --remove could not restore that user.
      if let other = contexts.first(where: { ![settings.user, ""].contains($0.user) }) {
        throw Failure(
          .failed, "kubectl's context \(other.name) has another user, \(other.user): nothing is changed",
          advice: "Run this by hand: \(plan.lines.joined(separator: " && "))")
      }
      return plan
    },
    remove: { request throws(Failure) in
      let settings = try KubernetesSettings(request)
      var plan = SetupPlan()
      for context in settings.contexts where context.user == settings.user {
        plan.steps.append(.run(["kubectl", "config", "set-context", context.name, "--user="]))
        plan.notes.append("The context \(context.name) has no user then.")
      }
      if let other = settings.otherContext {
        plan.notes.append(
          "The context \(other), of another cluster, uses \(settings.user), so this user stays.")
      } else if settings.hasUser {
        plan.steps.append(.run(["kubectl", "config", "delete-user", settings.user]))
      }
      return plan
    })

  /// The word as one item of a list: kubectl splits the value of `--exec-arg` as a line of CSV (RFC 4180).
  private static func listItem(_ word: String) -> String {
    guard word.isEmpty || word.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return word }
    return "\"" + ShellWord.replacing(UInt8(ascii: "\""), by: "\"\"", in: word) + "\""
  }
}

extension SetupRequest {
  /// The command line that prints an ExecCredential.
  fileprivate var tokenWords: [String] {
    [OwnProgram.word, "token", "--format", TokenFormat.kubernetes.rawValue, "--id-token"] + options
  }
}

/// The part of a kubeconfig file for one host.
private struct KubernetesSettings {
  /// The name of the user, in the kubeconfig file, that runs this program to get a token.
  let user: String
  /// The contexts whose cluster is at the host.
  let contexts: [(name: String, user: String)]
  /// A context of another cluster that has ``user``; nil if there is none.
  let otherContext: String?
  /// The command line of ``user``; empty if the file has no such user.
  let words: [String]
  let hasUser: Bool

  init(_ request: SetupRequest) throws(Failure) {
    user = "enroll-\(request.host.text)"
    let command = ["kubectl", "config", "view", "--output=json"]
    let ending = try ToolRun.output(command)
    guard ending.status == 0, let json = try? JSON.parse(Array(ending.output.utf8)) else {
      throw Failure(.failed, "\(command.joined(separator: " ")) failed")
    }
    func list(_ name: String) -> [JSON] { json[name]?.array ?? [] }
    let hosts = CredentialHosts(named: [request.host])
    let clusters = list("clusters").filter { cluster in
      guard let server = cluster["cluster"]?["server"]?.string, let target = CredentialTarget(url: server),
        case .allowed = hosts.answer(target)
      else { return false }
      return true
    }.compactMap { $0["name"]?.string }
    let all = list("contexts").compactMap { context -> (name: String, cluster: String, user: String)? in
      guard let name = context["name"]?.string, let cluster = context["context"]?["cluster"]?.string else {
        return nil
      }
      return (name, cluster, context["context"]?["user"]?.string ?? "")
    }
    contexts = all.filter { clusters.contains($0.cluster) }.map { ($0.name, $0.user) }
    otherContext = all.first { [user] in $0.user == user && !clusters.contains($0.cluster) }?.name
    let own = list("users").first { [user] in $0["name"]?.string == user }
    let exec = own?["user"]?["exec"]
    hasUser = own != nil
    words =
      (exec?["command"]?.string).map { [$0] + (exec?["args"]?.array ?? []).compactMap { $0.string } } ?? []
  }
}
