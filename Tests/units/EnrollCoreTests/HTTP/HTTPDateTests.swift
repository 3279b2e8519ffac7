import EnrollRules
import Expectations
import Testing

@Suite("The Date header tells the server's clock (R25)")
struct HTTPDateTests {
  @Test(
    "a date of any of the three forms is read",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
      ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Friday, 29-Feb-36 00:00:00 GMT", 2_087_856_000),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ])
  func reads(text: String, seconds: Int64) {
    expect(HTTPDate.parse(text), is: UnixTime(seconds: seconds))
  }

  @Test("every month is known")
  func months() {
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let days = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335]
    for (name, day) in zip(names, days) {
      let expected = UnixTime(seconds: 1_704_067_200 + Int64(day) * 86_400)
      expect(HTTPDate.parse("Mon, 01 \(name) 2024 00:00:00 GMT"), is: expected, "\(name)")
    }
  }

  @Test(
    "anything else is not a date",
    arguments: [
      "", "now", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 94", "Sunday, 06-Nov-94 08:49:37 CET", "Sun Nov  x 08:49:37 1994",
      "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
      "Sun, 06 Nov 19x4 08:49:37 GMT", "Sun, 06 Nov 1900 08:49:37 GMT",
    ])
  func refuses(text: String) {
    expect(HTTPDate.parse(text), is: nil)
  }
}
