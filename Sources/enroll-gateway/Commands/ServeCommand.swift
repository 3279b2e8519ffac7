// `enroll-gateway serve`: answers requests until a signal ends it.

import CPosix
import EnrollArguments
import EnrollRules

enum ServeCommand {
  private static let stopSeconds = Parameter.option(
    "stop-seconds", value: "seconds",
    help: "Seconds that requests in progress have to finish after SIGTERM, 0 to 86400.", in: 0...86_400,
    default: 20)

  static let command = Command(
    "serve", "Answer requests until SIGTERM. SIGHUP reads the key file again.",
    arguments: [stopSeconds.argument, GatewayCommand.config.argument]
  ) { values in
    // Blocks the signals before the first thread starts, because every thread inherits the signal mask.
    let signals = ServiceSignals()
    var isDone = true
    let status = GatewayCommand.status { () throws(EnrollError) in
      let serving = try Serving(try Setup(path: values[GatewayCommand.config]))
      let manager = ServiceManager()
      manager.notify(.ready)
      while signals.next() == SIGHUP {
        manager.notify(.reloading)
        serving.reload()
        manager.notify(.ready)
      }
      manager.notify(.stopping)
      isDone = serving.stop(withinSeconds: values[stopSeconds])
    }
    return isDone ? status : 1
  }
}
