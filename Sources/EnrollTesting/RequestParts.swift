// The parts of HTTP that a fake provider needs: queries, forms, words and dates.

import EnrollRules
import Foundation

/// The query parameters of a URL. If a name is repeated, its last value counts.
func parameters(of url: String) -> [String: String] {
  guard let mark = url.firstIndex(of: "?") else { return [:] }
  return fields(String(url[url.index(after: mark)...]))
}

/// The form in a request's body. If the header `Authorization` contains a client id, the form gets this `client_id`.
func form(_ request: HTTPRequest) -> [String: String] {
  var form = fields(String(decoding: request.body, as: UTF8.self))
  if let client = basicCredentials(request)?.first { form["client_id"] = client }
  return form
}

/// The client's id and secret in the header (RFC 6749 §2.3.1); nil if the request has no such header, or several such
/// headers.
func basicCredentials(_ request: HTTPRequest) -> [String]? {
  let values = request.headers.filter { $0.name == "Authorization" && $0.value.hasPrefix("Basic ") }.map(
    \.value)
  guard values.count == 1, let pair = Data(base64Encoded: String(values[0].dropFirst(6))) else { return nil }
  return String(decoding: pair, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false).map {
    $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
  }
}

private func fields(_ text: String) -> [String: String] {
  var fields: [String: String] = [:]
  for pair in text.split(separator: "&") {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
      $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
    }
    fields[parts[0]] = parts.count > 1 ? parts[1] : ""
  }
  return fields
}

/// The words of a text, such as scopes.
func words(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }

func encoded(_ text: String) -> String {
  text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
}

func httpDate(_ time: UnixTime) -> String {
  let formatter = DateFormatter()
  formatter.locale = Locale(identifier: "en_US_POSIX")
  formatter.timeZone = TimeZone(identifier: "GMT")
  formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
  return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(time.seconds)))
}
