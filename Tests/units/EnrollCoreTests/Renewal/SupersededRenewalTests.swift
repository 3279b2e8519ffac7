import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollTesting
import Expectations
import Testing

@Suite("A renewal that a sign-in or a sign-out supersedes between two requests")
struct SupersededRenewalTests {
  @Test("the refresh token of a session that is gone is not sent again", arguments: [true, false])
  func secondRequest(signsIn: Bool) throws {
    let bench = try Bench()
    let other = try bench.signedIn()
    let transport = TransportAt(
      [
        bench.provider.issuer + "/token": { _ in
          if signsIn {
            _ = try? other.signIn.resume(
              bench.provider.signIn(at: other.signIn.begin(SignInOptions(), cancellation: nil).url),
              cancellation: nil)
          } else {
            _ = try? other.logout.beginLogout(localOnly: true, cancellation: nil)
          }
          return HTTPResponse(status: 503)
        }
      ], else: bench.provider)
    let engine = bench.engine(transport: transport)
    bench.clock.advance(seconds: 3700)
    let outcome = try engine.access()
    expect(transport.requests.count { $0.url.hasSuffix("/token") }, is: 1)
    if signsIn {
      try expect(outcome.token().value, is: bench.record.confirmed?.accessToken)
    } else {
      expect(outcome, is: .reauthenticate(reason: "no user is signed in"))
    }
  }
}
