// Sets up Cargo: adds a line to Cargo's configuration for each configured registry that is at the host.

import EnrollPosix

extension SetupTool {
  static let cargo = SetupTool(
    name: "cargo", summary: "Make Cargo get the token for a registry that its configuration names.",
    hasCommandLine: true,
    add: { request throws(Failure) in
      let path = try cargoFile(request)
      let old = try SetupFile.read(path)
      let words = request.helper("cargo")
      let settings = try cargoSettings(old ?? "", path, request)
      do throws(CargoSettings.Refusal) { return plan(path, old, try settings.adding(words)) } catch {
        throw refusal(error, path, request)
      }
    },
    remove: { request throws(Failure) in
      let path = try cargoFile(request)
      guard let old = try SetupFile.read(path) else { return SetupPlan() }
      let advice: Advice =
        "Remove this line by hand, if it is there: \(CargoSettings.line(request.helper("cargo")))"
      return plan(path, old, try cargoSettings(old, path, request, advice).removing())
    })

  private static func plan(_ path: String, _ old: String?, _ change: CargoSettings.Change) -> SetupPlan {
    guard !change.shown.isEmpty else { return SetupPlan() }
    return SetupPlan(
      steps: [.write(.init(path: path, old: old, new: change.text, shown: change.shown))])
  }

  private static func cargoSettings(
    _ text: String, _ path: String, _ request: SetupRequest, _ advice: Advice? = nil
  ) throws(Failure) -> CargoSettings {
    do throws(CargoSettings.Refusal) { return try CargoSettings(text, request.host) } catch {
      throw refusal(error, path, request, advice)
    }
  }

  private static func refusal(
    _ reason: CargoSettings.Refusal, _ path: String, _ request: SetupRequest, _ advice: Advice? = nil
  ) -> Failure {
    let text =
      switch reason {
      case .line(let number): "line \(number) is not TOML that this program can read"
      case .noRegistry: "it names no registry of \(request.host.text)"
      case .otherProvider(let name): "its registry \(Shown.text(name)) has another credential-provider"
      case .form(let name): "its \(Shown.text(name)) is in braces, or is set twice"
      }
    let line = CargoSettings.line(request.helper("cargo"))
    return Failure(
      .failed, "\(path) is not changed: \(text)",
      advice: advice
        ?? "Write this into [registries.NAME], below its index: \(line)"
    )
  }

  /// Cargo reads `config.toml`; if the older file `config` exists, too, Cargo reads only `config`.
  private static func cargoFile(_ request: SetupRequest) throws(Failure) -> String {
    let folder = try request.path(Environment.process["CARGO_HOME"], ".cargo")
    return SetupFile.exists("\(folder)/config") ? "\(folder)/config" : "\(folder)/config.toml"
  }
}
