import EnrollKit
import Foundation

func end(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data((text + "\n").utf8))
  exit(status)
}

guard CommandLine.arguments.count == 4 else {
  end("usage: gateway-app-example GATEWAY STORE PROVIDER", status: 2)
}
let (gateway, store) = (CommandLine.arguments[1], CommandLine.arguments[2])
let provider = CommandLine.arguments[3]

do {
  let client = try EnrollClient(
    configuration: Configuration(
      issuer: gateway, clientID: "swift-app",  // the app's id in the gateway's configuration
      redirectURI: "http://127.0.0.1/callback"
    ) {
      $0.scopes = ["profile"]
      $0.registrationCheckURI = "\(gateway)/v1/registration-check"
      $0.requireCheck = true  // notices a session that the user ended elsewhere
      $0.bff = BFFSettings(base: gateway)
      $0.allowsLoopbackHTTP = true  // only for a gateway on this machine
    },
    store: .directory(store))

  var state = try await client.state(wait: true)
  if case .active = state {
  } else {
    let options = SignInOptions(kind: .bff, connection: provider, parameters: [("app", "swift-app")])
    state = try await client.signIn(options) { url in
      print("Open this in your browser: \(url)")
      fflush(nil)  // in case the output is a pipe
    }
  }
  if case .awaitingConfirmation(let transactionID, _) = state {
    try await client.confirm(transactionID)  // a real app first shows the profile and asks the user
  }

  let claims = try await client.userinfo()
  print("Signed in as \(claims["name"]?.string ?? "?"), account \(claims["sub"]?.string ?? "?").")
} catch {
  end("gateway-app-example: \(error.localizedDescription)", status: 1)
}
