import EnrollKit
import Foundation

func end(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data((text + "\n").utf8))
  exit(status)
}

guard CommandLine.arguments.count == 3 else { end("usage: sign-in-example ISSUER STORE", status: 2) }
let (issuer, store) = (CommandLine.arguments[1], CommandLine.arguments[2])

do {
  let client = try EnrollClient(
    configuration: Configuration(
      issuer: issuer, clientID: "sample-app", redirectURI: "http://127.0.0.1/callback"
    ) {
      $0.scopes = ["openid", "profile", "email", "offline_access"]
      $0.allowsLoopbackHTTP = true  // only for a provider on this machine
    },
    store: .directory(store))

  let state = try await client.signIn { url in  // returns once the loopback listener has the redirect
    print("Open this in your browser: \(url)")
    fflush(nil)  // in case the output is a pipe
  }
  if case .awaitingConfirmation(let transactionID, let profile) = state {
    print("Hello, \(profile["name"]?.string ?? "somebody"); is this you?")
    try await client.confirm(transactionID)
  }

  let token = try await client.accessToken()  // before every request; costs nothing while it is fresh
  print("A valid token of \(token.value.count) bytes.")

  if let url = try await client.logout().url { print("To end the browser's session, open: \(url)") }
} catch {
  end("sign-in-example: \(error.localizedDescription)", status: 1)
}
