// The findings of a check of a provider. The check needs no sign-in.

/// One feature that an app needs from a provider, and whether the provider has it.
public struct ProviderFinding: Equatable, Sendable {
  /// The feature.
  public enum Subject: String, Sendable, CaseIterable {
    /// Signing in with the browser.
    case signIn
    /// The scopes of the configuration.
    case scopes
    /// The profile with the user's name and address.
    case profile
    /// Getting a token without another sign-in.
    case renewal
    /// Ending the sessions here and at the provider.
    case logout
    /// Signing in with another device's browser (RFC 8628).
    case device
  }

  /// Whether the provider has the feature.
  public enum Verdict: String, Sendable, CaseIterable {
    /// The provider has the feature, according to its metadata.
    case works
    /// The feature works in part, or depends on facts that the provider does not announce.
    case limited
    /// The feature does not work with this configuration.
    case fails
  }

  /// The feature of the finding.
  public var subject: Subject
  /// Whether the provider has it.
  public var verdict: Verdict
  /// The reason, as one sentence.
  public var text: String
  /// The advice; nil for none.
  public var advice: String?
  /// The key of the configuration that should be changed; nil if no change helps.
  public var key: String?
}

/// All findings about one provider.
public struct ProviderCheck: Equatable, Sendable {
  /// The name of a `ProviderPreset` that the configuration could use; nil if it already uses that preset, or
  /// if no preset fits.
  public var preset: String?
  /// The findings, in the order of ``ProviderFinding/Subject``; a subject may have several findings.
  public var findings: [ProviderFinding] = []

  package init() {}

  package mutating func add(
    _ subject: ProviderFinding.Subject, _ verdict: ProviderFinding.Verdict, _ text: String,
    advice: String? = nil, key: String? = nil
  ) {
    findings.append(
      ProviderFinding(subject: subject, verdict: verdict, text: text, advice: advice, key: key))
  }
}
