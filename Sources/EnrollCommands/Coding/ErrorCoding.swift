// An error as JSON, the same in every interface: the status by name and number, which side is to blame, and whether
// retrying helps.

public import EnrollRules
public import EnrollJSON

extension EnrollError {
  public var json: JSON {
    .object([
      ("status", .string(code.name)),
      ("code", .integer(Int64(code.rawValue))),
      ("blame", .string(blame.rawValue)),
      ("retryable", .bool(isRetryable)),
      ("message", .string(message)),
      ("field", field.map { .string($0) }),
      ("httpStatus", httpStatus.map { .integer(Int64($0)) }),
      ("oauthError", oauthError.map { .string($0) }),
      ("oauthErrorDescription", oauthErrorDescription.map { .string($0) }),
      ("retryAfter", retryAfterSeconds.map { .integer($0) }),
    ])
  }
}

extension Schema {
  /// The provider's description. Its limit includes three dots, which follow a description that was cut off.
  static let providerWords = Schema.text(
    "The provider's own words about its error (error_description); absent if they may repeat a secret.",
    maximumBytes: EnrollError.maximumDescriptionBytes + 3)

  static let error = Schema.object(
    [
      .required(
        "status", .words("Status", EnrollError.Code.allCases.map { $0.name }, "Why a call failed, by name.")),
      .required("code", Schema(.integer(-99 ... -1), "The number of the status in the C API.")),
      .required(
        "blame",
        .words("Blame", EnrollError.Blame.allCases.map { $0.rawValue }, "Who is to blame for a failure.")),
      .required("retryable", Schema(.boolean, "Whether the same call may succeed later.")),
      .required(
        "message",
        .text(
          "What happened, what was expected and what to do, for a log; never a secret.", maximumBytes: 4096)),
      .optional("field", .text("The configuration key or parameter at fault.")),
      .optional(
        "httpStatus", Schema(.integer(100...999), "The status of the HTTP response that caused the failure.")),
      .optional("oauthError", .text("The provider's own error code (RFC 6749 §5.2).", maximumBytes: 64)),
      .optional("oauthErrorDescription", providerWords),
      .optional("retryAfter", .seconds(0 ... .max, "How long the server asked the client to wait.")),
    ], "Why a call failed; no text in it contains a secret."
  ).named("EnrollError")
}
