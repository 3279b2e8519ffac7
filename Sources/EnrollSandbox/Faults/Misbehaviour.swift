// Applies the effects of faults to answers. Pure.

import EnrollJSON
import Foundation

enum Misbehaviour {
  /// The answer to a request that is not processed; nil if no effect replaces the answer.
  static func instead(of endpoint: Endpoint, _ effects: [Fault.Effect]) -> SandboxAnswer? {
    for effect in effects where effect.isInstead {
      switch effect {
      case .dropBefore:
        var answer = SandboxAnswer(status: 200)
        answer.delivery = .nothing
        return answer
      case .status(let code, let retryAfter):
        var answer = SandboxAnswer(status: code)
        if let retryAfter { answer.setHeader("Retry-After", retryAfter) }
        return answer
      case .oauthError(let code, let status):
        // The authorization endpoint processes the request first: it reports the error later with a redirect, once it
        // knows the redirect URI.
        if endpoint == .authorize { continue }
        return refusal(OAuthRefusal(code, "planned by the test", status: status))
      case .redirect(let target, let status):
        return SandboxAnswer(status: status, headers: [("Location", target)])
      case .demandNonce:
        var answer = refusal(
          OAuthRefusal("use_dpop_nonce", "planned by the test", status: endpoint == .userinfo ? 401 : 400))
        answer.setHeader("DPoP-Nonce", Encoding.randomToken())
        answer.setHeader("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\"")
        return answer
      case .garbage: return text(Array("<html>\u{0}this is not JSON {[".utf8))
      case .emptyBody: return text([])
      case .hugeBody(let bytes): return text(huge(bytes))
      case .deepNesting(let levels):
        return text([UInt8](repeating: UInt8(ascii: "["), count: min(max(levels, 1), sizeLimit)))
      default: continue
      }
    }
    return nil
  }

  static func oauthError(_ effects: [Fault.Effect]) -> OAuthRefusal? {
    for case .oauthError(let code, let status) in effects {
      return OAuthRefusal(code, "planned by the test", status: status)
    }
    return nil
  }

  static func refusal(_ refusal: OAuthRefusal) -> SandboxAnswer {
    .json(
      .object([
        ("error", .string(refusal.code)), ("error_description", .string(refusal.description)),
      ]), status: refusal.status)
  }

  /// Alters a correct answer, or how it is sent.
  static func apply(_ effects: [Fault.Effect], to answer: inout SandboxAnswer, now: Int64) {
    alterMembers(effects, of: &answer)
    for effect in effects {
      switch effect {
      case .dropAfter: answer.delivery = .nothing
      case .halfBody: answer.delivery = .half
      case .delay(let milliseconds):
        answer.delayMilliseconds = min(max(0, answer.delayMilliseconds + milliseconds), 600_000)
      case .compressed: answer.setHeader("Content-Encoding", "gzip")
      case .contentType(let type): answer.setHeader("Content-Type", type)
      case .dateOffset(let seconds):
        answer.setHeader("Date", Encoding.httpDate(now.addingReportingOverflow(seconds).partialValue))
      default: continue
      }
    }
  }

  private static func alterMembers(_ effects: [Fault.Effect], of answer: inout SandboxAnswer) {
    guard (200..<300).contains(answer.status), answer.header("Content-Type") == "application/json" else {
      return
    }
    guard let value = try? JSON.parse(answer.body), case .object(var object) = value else { return }
    var repeated: [(String, JSON)] = []
    for effect in effects {
      switch effect {
      case .omitMember(let name): object[name] = nil
      case .setMember(let name, let value): object[name] = value
      case .repeatMember(let name, let value): repeated.append((name, value))
      default: continue
      }
    }
    answer.body = JSON.object(object).serialized()
    for (name, value) in repeated {
      let member = JSON.object([(name, value)]).serialized().dropFirst()
      answer.body = answer.body.dropLast() + [UInt8(ascii: ",")] + member
    }
  }

  /// The URL of a redirect with altered parameters.
  static func location(_ uri: String, _ form: Form, effects: [Fault.Effect]) -> String {
    var form = form
    var fragment = ""
    for effect in effects {
      switch effect {
      case .omitParameter(let name): form.remove(name)
      case .setParameter(let name, let value): form.set(name, value)
      case .repeatParameter(let name): form.append(name, form[name])
      case .fragment(let text):
        fragment = "#" + (text.addingPercentEncoding(withAllowedCharacters: .urlFragmentAllowed) ?? "")
      default: continue
      }
    }
    if form.pairs.isEmpty { return uri + fragment }
    return uri + (uri.contains("?") ? "&" : "?") + form.encoded + fragment
  }

  /// The limit in bytes for the body that a fault makes.
  private static let sizeLimit = 64 << 20

  private static func huge(_ bytes: Int) -> [UInt8] {
    let filler = min(max(bytes - 13, 0), sizeLimit)
    return Array("{\"filler\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: filler)
      + Array("\"}".utf8)
  }

  private static func text(_ body: [UInt8]) -> SandboxAnswer {
    SandboxAnswer(status: 200, headers: [("Content-Type", "application/json")], body: body)
  }
}
