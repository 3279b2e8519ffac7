// A command-line tool that signs its user in:  swift-cli-example login|whoami|logout

import EnrollFoundation
import Foundation

func end(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data("swift-cli-example: \(text)\n".utf8))
  exit(status)
}

func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

guard CommandLine.arguments.count == 2 else { end("usage: swift-cli-example login|whoami|logout", status: 2) }

do {
  let path = variable("ENROLL_CONFIG") ?? "Examples/sandbox.json"
  guard let file = FileManager.default.contents(atPath: path) else {
    end("there is no file \(path); ENROLL_CONFIG names the configuration", status: 1)
  }
  let configuration = try Configuration(json: JSON.parse(Array(file)))
  let data = variable("XDG_DATA_HOME") ?? NSHomeDirectory() + "/.local/share"
  try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
  let client = try EnrollClient(configuration: configuration, store: .directory(data + "/swift-cli-example"))
  defer { client.close() }

  switch CommandLine.arguments[1] {
  case "login":
    var state: RegistrationState
    if let browser = try? DesktopBrowser() {
      state = try await client.signIn(using: browser)
    } else {
      state = try await client.signIn { url in
        print("Open this in your browser: \(url)")
        fflush(nil)  // into a pipe, too
      }
    }
    if case .awaitingConfirmation(let transactionID, _) = state {
      state = try await client.confirm(transactionID)
    }
    print("Signed in as \(try await client.profile()["email"]?.string ?? "somebody").")
  case "whoami":
    // For your own API: AuthorizedSession(client).data(for: request) adds the token.
    let claims = try await client.userinfo()
    print("\(claims["name"]?.string ?? "somebody") <\(claims["email"]?.string ?? "no e-mail")>")
  case "logout":
    try await client.logout()
    print("Signed out.")
  default:
    end("usage: swift-cli-example login|whoami|logout", status: 2)
  }
} catch let error as EnrollError where error.code == .reauthenticate {
  end("nobody is signed in; run: swift-cli-example login", status: 1)
} catch {
  end("\(error.localizedDescription)", status: 1)
}
