// Notes: a program that signs its user in once and asks an API who the user is. docs/tutorial/swift.md
// explains each part.

// example: configuration
import EnrollFoundation
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking  // URLSession on Linux
#endif

guard CommandLine.arguments.count > 1 else { end("usage: notes ISSUER [logout]", status: 2) }
let issuer = CommandLine.arguments[1]

func openClient() throws -> EnrollClient {
  try EnrollClient(
    configuration: Configuration(
      issuer: issuer, clientID: "sample-app", redirectURI: "http://127.0.0.1/callback"
    ) {
      $0.scopes = ["openid", "profile", "email", "offline_access"]
      $0.allowsLoopbackHTTP = true  // only for a provider on this machine
    },
    store: .directory(FileManager.default.homeDirectoryForCurrentUser.path + "/.notes"))
}

func end(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data((text + "\n").utf8))
  exit(status)
}
// end

// example: sign-in
func signIn(_ client: EnrollClient) async throws {
  let state: RegistrationState
  if let browser = try? DesktopBrowser() {
    state = try await client.signIn(using: browser)  // the redirect comes back to a port of ours
  } else {
    state = try await client.signIn { url in  // no desktop: the user opens the address
      print("Open this in your browser: \(url)")
      fflush(nil)  // into a pipe, too
    }
  }
  if case .awaitingConfirmation(let transactionID, let profile) = state {
    print("You signed in as \(profile["name"]?.string ?? "somebody").")
    try await client.confirm(transactionID)
  }
}

func signInIfNeeded(_ client: EnrollClient) async throws {
  do {
    _ = try await client.accessToken()  // from memory, or renewed if it is due
  } catch {
    guard error.code == .reauthenticate || error.code == .illegalState else { throw error }
    try await signIn(client)  // nobody is signed in, the session has ended, or nobody has confirmed it
  }
}
// end

// example: request
func who(_ client: EnrollClient) async throws -> String {
  guard let url = URL(string: issuer + "/userinfo") else { return "nobody" }
  let api = AuthorizedSession(client)  // a valid token on each request
  let (data, answer) = try await api.data(from: url)
  guard answer.statusCode == 200 else { end("notes: the API answered \(answer.statusCode)", status: 1) }
  let claims = try JSONSerialization.jsonObject(with: data) as? [String: Any]
  return claims?["name"] as? String ?? "nobody"
}
// end

// example: main
do {
  let client = try openClient()
  if CommandLine.arguments.dropFirst(2).first == "logout" {
    _ = try await client.logout()
    print("You are signed out.")
  } else {
    try await signInIfNeeded(client)
    print("The API knows you as \(try await who(client)).")
  }
} catch {
  end("notes: \(error.localizedDescription)", status: 1)
}
// end
