// The names of statuses and blames. The table is in EnrollError.

public import CEnroll
import EnrollRules

extension EnrollError.Code {
  /// The name of the constant ENROLL_E_*: the JSON name in capitals, with underscores between words.
  var constantName: String {
    var text = "ENROLL_E_"
    var previousWasLower = false
    for byte in name.utf8 {
      let isUpper = byte >= 0x41 && byte <= 0x5A
      if isUpper && previousWasLower { text += "_" }
      text.unicodeScalars.append(Unicode.Scalar(isUpper ? byte : byte - 0x20))
      previousWasLower = !isUpper
    }
    return text
  }
}

extension EnrollError.Blame {
  /// The number of the constant ENROLL_BLAME_*.
  var number: Int32 {
    switch self {
    case .caller: ENROLL_BLAME_CALLER
    case .host: ENROLL_BLAME_HOST
    case .user: ENROLL_BLAME_USER
    case .server: ENROLL_BLAME_SERVER
    case .network: ENROLL_BLAME_NETWORK
    case .internal: ENROLL_BLAME_INTERNAL
    }
  }
}

private struct StatusTexts: Sendable {
  struct Row: Sendable {
    var status: Int32
    var name: PermanentText
    var summary: PermanentText
  }

  static let shared = StatusTexts()

  let rows: [Row]
  let unknown = Row(
    status: 1, name: PermanentText("unknown"),
    summary: PermanentText("a status that this version does not know"))

  private init() {
    var rows = [Row(status: ENROLL_OK, name: PermanentText("ok"), summary: PermanentText("success"))]
    for code in EnrollError.Code.allCases {
      rows.append(
        Row(status: code.rawValue, name: PermanentText(code.name), summary: PermanentText(code.summary)))
    }
    self.rows = rows
  }

  func row(_ status: Int32) -> Row {
    for row in rows where row.status == status { return row }
    return unknown
  }
}

private let blameNames = NameTable(
  from: ENROLL_BLAME_NONE, ["none", "caller", "host", "user", "server", "network", "internal"])

@_cdecl("enroll_status_name") @implementation
public func enroll_status_name(_ status: enroll_status) -> UnsafePointer<CChar>! {
  StatusTexts.shared.row(status).name.pointer
}

@_cdecl("enroll_status_summary") @implementation
public func enroll_status_summary(_ status: enroll_status) -> UnsafePointer<CChar>! {
  StatusTexts.shared.row(status).summary.pointer
}

@_cdecl("enroll_status_blame") @implementation
public func enroll_status_blame(_ status: enroll_status) -> Int32 {
  EnrollError.Code(rawValue: status).map { EnrollError($0, "").blame.number } ?? ENROLL_BLAME_NONE
}

@_cdecl("enroll_status_is_retryable") @implementation
public func enroll_status_is_retryable(_ status: enroll_status) -> Int32 {
  EnrollError.Code(rawValue: status).map { EnrollError($0, "").isRetryable ? 1 : 0 } ?? 0
}

@_cdecl("enroll_blame_name") @implementation
public func enroll_blame_name(_ blame: Int32) -> UnsafePointer<CChar>! { blameNames.name(of: blame) }
