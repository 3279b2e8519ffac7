// Tests of the server in front of the sandbox's provider: bodies, delayed responses, and how the server ends.

@testable import EnrollSandbox
import Foundation
import Testing

@Suite struct ServerTests {
  @Test("a body of 256 KiB is read, a larger one is refused")
  func bodies() async throws {
    try await withSandbox { client async throws in
      for (count, status) in [(256 << 10, 401), (256 << 10 + 1, 413)] {
        let padding = String(repeating: "x", count: count - "client_id=nobody&p=".utf8.count)
        let reply = try await client.browser.post("/token", [("client_id", "nobody"), ("p", padding)])
        #expect(reply.status == status, "\(count) bytes")
      }
    }
  }

  @Test("HEAD gets the head of the answer to GET")
  func head() async throws {
    try await withSandbox { client async throws in
      let (whole, head) = (try await client.browser.get("/"), try await client.browser.send("HEAD", "/"))
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(head.headers["content-length"] == String(whole.body.count))
    }
  }

  @Test("an answer that is late holds up no other one, and ends with the sandbox")
  func late() async throws {
    try await withSandbox { client async throws in
      await client.provider.add(Fault(.delay(milliseconds: 600_000), at: .jwks, times: 1))
      let issuer = client.browser.issuer
      let late = Task { try await TestBrowser(issuer).get("/jwks") }
      while await client.provider.count(.jwks) == 0 { await Task.yield() }
      #expect(try await client.browser.get("/jwks").status == 200)
      await client.sandbox.stop()
      await #expect(throws: URLError.self) { try await late.value }
    }
  }
}
