// Notes: a program that signs its user in once and asks an API who that is. docs/tutorial/swift.md explains each part.

// example: configuration
import EnrollKit
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

guard CommandLine.arguments.count > 1 else { end("usage: notes ISSUER [logout]", status: 2) }
let issuer = CommandLine.arguments[1]

func openClient() throws -> EnrollClient {
  try EnrollClient(
    configuration: Configuration(
      issuer: issuer, clientID: "sample-app", redirectURI: "http://127.0.0.1/callback",
      scopes: ["openid", "profile", "email", "offline_access"],
      allowsLoopbackHTTP: true),  // only for a provider on this machine
    store: .directory(FileManager.default.homeDirectoryForCurrentUser.path + "/.notes"))
}

func end(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data((text + "\n").utf8))
  exit(status)
}
// end

// example: sign-in
func signIn(_ client: EnrollClient) async throws {
  let transaction = try await client.begin()
  print("Open this in your browser: \(transaction.url)")
  fflush(nil)  // into a pipe, too
  let state = try await client.awaitOutcome(of: transaction)  // the redirect came back to a port of ours
  if case .awaitingConfirmation(let profile) = state {
    print("You signed in as \(profile["name"]?.string ?? "somebody").")
    try await client.confirm()
  }
}

func accessToken(_ client: EnrollClient) async throws -> String {
  do {
    return try await client.accessToken()  // from memory, or renewed if it is due
  } catch {
    guard error.code == .reauthenticate else { throw error }
    try await signIn(client)  // nobody is signed in, or the provider ended the session
    return try await client.accessToken()
  }
}
// end

// example: request
func who(_ client: EnrollClient) async throws -> String {
  guard let url = URL(string: issuer + "/userinfo") else { return "nobody" }
  var request = URLRequest(url: url)
  request.setValue("Bearer \(try await accessToken(client))", forHTTPHeaderField: "Authorization")
  let (data, _) = try await URLSession.shared.data(for: request)
  let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
  return answer?["name"] as? String ?? "nobody"
}
// end

// example: main
do {
  let client = try openClient()
  if CommandLine.arguments.dropFirst(2).first == "logout" {
    _ = try await client.logout()
    print("You are signed out.")
  } else {
    print("The API knows you as \(try await who(client)).")
  }
} catch {
  end("notes: \(error.localizedDescription)", status: 1)
}
// end
