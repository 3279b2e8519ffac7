// Sets up Terraform and OpenTofu. They have only one helper for all hosts, so the profile names the hosts. A token that
// their own configuration has for the host takes precedence over the helper.

import CPosix
import EnrollJSON
import EnrollPosix
import EnrollRules

extension SetupTool {
  static let terraform = SetupTool(
    name: "terraform", summary: "Make Terraform get the token for a host.",
    add: { request throws(Failure) in
      let settings = try TerraformSettings(request)
      var plan = SetupPlan()
      if let step = try request.profile("terraform").added() { plan.steps.append(step) }
      try request.link(try request.path(nil, terraformProgram), found: nil, &plan)
      try settings.requireNoToken(request.host)
      if let step = try settings.added(request.host) { plan.steps.append(step) }
      let variable = TerraformSettings.variable(request.host)
      if Environment.process[variable] != nil {
        plan.notes.append("Terraform uses \(variable) instead of the helper, as long as it is set.")
      }
      return plan
    },
    remove: { request throws(Failure) in
      var plan = SetupPlan()
      let profile = request.profile("terraform")
      if let step = try profile.removed() { plan.steps.append(step) }
      guard try !profile.isNeeded() else { return plan }
      let settings = try TerraformSettings(request)
      if let step = try settings.removed() { plan.steps.append(step) }
      let link = try request.path(nil, terraformProgram)
      guard OwnProgram.isLink(link) else { return plan }
      if let file = settings.otherFile {
        plan.notes.append(
          "\(file) has a credentials_helper that starts this program, and this command does not change it. "
            + "So \(link) stays: without it, Terraform would fail.")
      } else {
        plan.steps.append(.unlink(link))
      }
      return plan
    })

  private static let terraformProgram = ".terraform.d/plugins/terraform-credentials-enroll"
}

/// Terraform's configuration: one file, and without TF_CLI_CONFIG_FILE the files of a folder, too.
private struct TerraformSettings {
  private static let block = "credentials_helper \"enroll\" {}"
  private let path: String
  private let old: String?
  private let document: HCLItems
  /// The tokens and the helpers that the files name.
  private var tokens: [(host: String, file: String)] = []
  private var helpers: [Helper] = []

  /// A helper that a file names.
  private struct Helper {
    let file: String
    let name: String?
    /// Whether this command wrote the block, or could have written it.
    let isOwn: Bool
  }

  init(_ request: SetupRequest) throws(Failure) {
    let value = Environment.process["TF_CLI_CONFIG_FILE"] ?? ""
    let named = value.isEmpty ? nil : value
    path = try request.path(named, ".terraformrc")
    old = try SetupFile.read(path)
    document = HCLItems(old ?? "")
    try take(document, path)
    guard named == nil else { return }
    let folder = try request.path(nil, ".terraform.d")
    for name in SetupFile.names(in: folder) {
      let path = "\(folder)/\(name)"
      if name.hasSuffix(".tfrc") {
        try take(HCLItems(try SetupFile.read(path) ?? ""), path)
      } else if name.hasSuffix(".tfrc.json") {
        let text = try SetupFile.read(path) ?? "{}"
        guard let json = try? JSON.parse(Array(text.utf8)) else {
          throw Self.unreadable(path, "it is not JSON")
        }
        tokens += (json["credentials"]?.object?.members ?? []).map { ($0.key, path) }
        if let helper = json["credentials_helper"] {
          helpers.append(Helper(file: path, name: helper.object?.members.first?.key, isOwn: false))
        }
      }
    }
  }

  private mutating func take(_ document: HCLItems, _ path: String) throws(Failure) {
    if let line = document.badLine {
      throw Self.unreadable(path, "line \(line) is not HCL that this program can read")
    }
    for item in document.all {
      if item.words.first == "credentials" { tokens += item.words.dropFirst().map { ($0, path) } }
      if item.words.first == "credentials_helper" {
        helpers.append(Helper(file: path, name: item.words.dropFirst().first, isOwn: Self.isOwn(item)))
      }
    }
  }

  private static func unreadable(_ path: String, _ reason: String) -> Failure {
    Failure(
      .failed, "\(path): \(reason), and nothing is changed",
      advice: "Correct the file. The line for this program in Terraform's configuration is: \(block)")
  }

  private static func isOwn(_ item: HCLItems.Item) -> Bool {
    item.words == ["credentials_helper", OwnProgram.name] && item.isEmptyBlock
  }

  /// - Throws: `.failed` if a file has a token for the host.
  func requireNoToken(_ host: NamedHost) throws(Failure) {
    guard let token = tokens.first(where: { host.isSamePlace(as: NamedHost($0.host)) }) else { return }
    throw Failure(
      .failed,
      "\(token.file) has a token for \(token.host), which Terraform uses instead of the helper: "
        + "nothing is changed",
      advice: "Remove it there, or by terraform logout \(token.host), and run the command again.")
  }

  /// A file in which Terraform still finds this program after ``removed()``; nil if there is none.
  var otherFile: String? {
    helpers.first { $0.name == OwnProgram.name && (!$0.isOwn || $0.file != path) }?.file
  }

  /// The changed file; nil if it already names the helper.
  /// - Throws: `.failed` if a file names another helper, or this program with arguments: they may name another account.
  func added(_ host: NamedHost) throws(Failure) -> SetupPlan.Step? {
    if let other = helpers.first(where: { !$0.isOwn }) {
      throw Failure(
        .failed, "\(other.file) is not changed: it has a credentials_helper, and Terraform takes one",
        advice: other.name == OwnProgram.name
          ? "Add \"--host\", \(JSON.string(host.text).text) to its args. Or write it without args: \(Self.block)"
          : "Write this instead of it: \(Self.block)")
    }
    guard helpers.isEmpty else { return nil }
    let text = old ?? ""
    let isComplete = text.isEmpty || text.hasSuffix("\n") || text.hasSuffix("\r\n")
    let new = text + (isComplete ? Self.block + newline : newline + Self.block)
    return .write(.init(path: path, old: old, new: new, shown: ["+ \(Self.block)"]))
  }

  /// The file without the helper; nil if it does not name the helper.
  func removed() throws(Failure) -> SetupPlan.Step? {
    guard let old else { return nil }
    var bytes = document.bytes
    var shown: [String] = []
    for item in document.all.filter({ Self.isOwn($0) }).reversed() {
      shown.insert("- \(String(decoding: bytes[item.range], as: UTF8.self))", at: 0)
      bytes.removeSubrange(Self.lines(item.range, bytes))
    }
    guard !shown.isEmpty else { return nil }
    return .write(.init(path: path, old: old, new: String(decoding: bytes, as: UTF8.self), shown: shown))
  }

  /// The range with a newline: the newline after it or, at the end of the file, the newline before it.
  private static func lines(_ range: Range<Int>, _ bytes: [UInt8]) -> Range<Int> {
    let newline = UInt8(ascii: "\n")
    let isLine = range.lowerBound == 0 || bytes[range.lowerBound - 1] == newline
    let rest = bytes[range.upperBound...]
    for end in ["\r\n", "\n"] where isLine && rest.starts(with: end.utf8) {
      return range.lowerBound..<(range.upperBound + end.utf8.count)
    }
    for end in ["\r\n", "\n"]
    where rest.isEmpty && bytes[..<range.lowerBound].suffix(end.utf8.count).elementsEqual(end.utf8) {
      return (range.lowerBound - end.utf8.count)..<range.upperBound
    }
    return range
  }

  private var newline: String { ASCII.contains(old ?? "", "\r\n") ? "\r\n" : "\n" }

  /// The environment variable that has a host's token for Terraform.
  static func variable(_ host: NamedHost) -> String {
    var name = "TF_TOKEN_"
    for letter in host.host.text {
      switch letter {
      case ".": name += "_"
      case "-": name += "__"
      default: name.append(letter)
      }
    }
    return name
  }
}
