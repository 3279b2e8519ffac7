// Tests of addresses, of networks, and of the proxies whose headers about a client are trusted.

@testable import EnrollHTTP
import Testing

@Suite struct IPAddressTests {
  @Test("an address is one number however it is written")
  func writing() {
    #expect(IPAddress("10.0.0.7") == IPAddress("::ffff:10.0.0.7"))
    #expect(IPAddress("2001:DB8:0::7") == IPAddress("2001:db8::7"))
    #expect(IPAddress("::ffff:10.0.0.7")?.text == "10.0.0.7")
    #expect(IPAddress("2001:DB8:0::7")?.text == "2001:db8::7")
    for text in [
      "", "10.0.0", "10.0.0.256", "010.0.0.1", "gateway.test", "10.0.0.7 ", "::1%lo", "[::1]", "+10.0.0.7",
    ] {
      #expect(IPAddress(text) == nil, "\(text)")
    }
  }

  @Test("an IPv6 client is its /64, an IPv4 client its address")
  func clients() {
    #expect(IPAddress("2001:db8:1:2::7")?.network == IPAddress("2001:db8:1:2:ffff::1")?.network)
    #expect(IPAddress("2001:db8:1:2::7")?.network != IPAddress("2001:db8:1:3::7")?.network)
    #expect(IPAddress("10.0.0.7")?.network == IPAddress("::ffff:10.0.0.7")?.network)
    #expect(IPAddress("10.0.0.7")?.network != IPAddress("10.0.0.8")?.network)
  }

  @Test("a network has the addresses that begin as it does")
  func networks() throws {
    let eight = try #require(IPAddress.Network("10.0.0.0/8"))
    let some = try #require(IPAddress.Network("2001:db8::/33"))
    let one = try #require(IPAddress.Network("10.0.0.7"))
    let all = try #require(IPAddress.Network("0.0.0.0/0"))
    #expect(try eight.contains(#require(IPAddress("10.255.0.1"))))
    #expect(try !eight.contains(#require(IPAddress("11.0.0.1"))))
    #expect(try some.contains(#require(IPAddress("2001:db8:7fff::1"))))
    #expect(try !some.contains(#require(IPAddress("2001:db8:8000::1"))))
    #expect(try one.contains(#require(IPAddress("10.0.0.7"))))
    #expect(try !one.contains(#require(IPAddress("10.0.0.6"))))
    #expect(try all.contains(#require(IPAddress("192.0.2.1"))))
    #expect(try !all.contains(#require(IPAddress("2001:db8::1"))))
    for text in ["10.0.0.0/33", "2001:db8::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "/8"] {
      #expect(IPAddress.Network(text) == nil, "\(text)")
    }
  }

  @Test(
    "the client is the last hop that is not trusted",
    arguments: [
      (["192.0.2.1"], "192.0.2.1"),
      (["198.51.100.9, 192.0.2.1"], "192.0.2.1"),
      (["198.51.100.9, 192.0.2.1, 10.0.0.9"], "192.0.2.1"),
      (["198.51.100.9", "192.0.2.1", "10.0.0.9"], "192.0.2.1"),
      (["10.0.0.8, 10.0.0.9"], "10.0.0.8"),
      (["192.0.2.1:4711"], "192.0.2.1"),
      (["[2001:db8::1]:4711"], "2001:db8::1"),
      (["2001:db8::1"], "2001:db8::1"),
      (["192.0.2.1, unknown"], "10.0.0.7"),
      (["192.0.2.1, unknown, 10.0.0.9"], "10.0.0.9"),
      (["192.0.2.1,"], "10.0.0.7"),
      ([""], "10.0.0.7"),
      ([], "10.0.0.7"),
    ] as [([String], String)])
  func hops(_ values: [String], _ client: String) throws {
    let proxies = TrustedProxies([try #require(IPAddress.Network("10.0.0.0/8"))])
    #expect(try proxies.client(behind: #require(IPAddress("10.0.0.7")), forwarded: values).text == client)
  }
}
