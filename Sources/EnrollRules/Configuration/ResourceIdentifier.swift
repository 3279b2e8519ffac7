// The URI of a protected resource (RFC 9728 §1.2, RFC 8707 §2): metadata is looked up by this URI, and tokens are
// requested for it. Every request that leads to tokens names the URI (R43). Tokens are requested only for the resources
// of the sign-in (R44).

/// An API or an MCP server, by the URI under which its tokens are issued.
public struct ResourceIdentifier: Equatable, Sendable {
  /// The URI as the host passed it. It is compared byte by byte.
  public let text: String
  package let url: StrictURL

  /// Parses and checks the URI of a resource.
  /// - Parameter field: the parameter or key with the URI, for errors.
  /// - Throws: `.invalidArgument` for anything but an https URL without a fragment. An http URL of a loopback address
  ///   is accepted only with `allowsLoopbackHTTP` (R19).
  public init(
    _ text: String, allowsLoopbackHTTP: Bool, field: String = "resource"
  ) throws(EnrollError) {
    if let fault = Self.fault(in: text, allowsLoopbackHTTP: allowsLoopbackHTTP) {
      throw EnrollError(.invalidArgument, "\(field): \(fault.text(.documented))", field: field)
    }
    guard let url = try? StrictURL(text) else {
      throw EnrollError(.internal, "a URL was read in two ways", field: field)
    }
    self.text = text
    self.url = url
  }

  /// Checks that no parameter of the host conflicts with the requested resources.
  /// - Throws: `.invalidArgument` if the host's own parameters include `name`, which would change what the tokens are
  ///   for.
  static func requireUnset(_ name: String, _ configuration: Configuration) throws(EnrollError) {
    guard !configuration.requestedResources.isEmpty, configuration.resourceParameter != .unsent,
      ASCII.equals(name, configuration.resourceParameter.rawValue)
    else { return }
    throw EnrollError(
      .invalidArgument,
      "\(name) is the configuration's: open another client for another resource, or name it in resources",
      field: "parameters")
  }

  /// What is wrong with the text; nil if the text is acceptable.
  static func fault(in text: String, allowsLoopbackHTTP: Bool) -> ConfigurationFault? {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(text) } catch { return "\(error.text)" }
    guard !url.hadFragment else { return "a resource has no fragment (RFC 8707 §2)" }
    switch url.kind {
    case .https: return nil
    case .loopbackHTTP:
      return allowsLoopbackHTTP ? nil : "http to loopback needs \(key: "allowLoopbackHTTP")"
    case .privateScheme: return "expected https, got a private scheme"
    }
  }
}

extension ConfigurationRules {
  static func resource(_ configuration: Configuration) -> ConfigurationFault? {
    configuration.resource.flatMap {
      ResourceIdentifier.fault(in: $0, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    }
  }

  static func resources(_ configuration: Configuration) -> ConfigurationFault? {
    let texts = configuration.resources
    guard texts.count <= 16 else { return "expected at most 16, got \(texts.count)" }
    return firstFault(in: texts) {
      ResourceIdentifier.fault(in: $0, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    }
  }
}

/// The parameter with which a provider accepts resources.
public enum ResourceParameter: String, Sendable, CaseIterable {
  /// One parameter for each resource (RFC 8707).
  case resource
  /// One parameter with all resources, separated by spaces, in the authorization request (Hydra, Authelia).
  case audience
  /// No parameter: the scopes say what the tokens are for, and the provider refuses requests with a resource (Microsoft
  /// Entra).
  case unsent = "none"
}

extension Configuration {
  /// All resources that a sign-in requests.
  var requestedResources: [String] {
    guard let own = resource else { return resources }
    return [own] + resources.filter { !ASCII.equals($0, own) }
  }

  /// Adds the parameters of an authorization request.
  func addResources(to form: inout FormEncoding) {
    let texts = requestedResources
    switch resourceParameter {
    case .resource: for text in texts { form.add(resourceParameter.rawValue, text) }
    case .audience: if !texts.isEmpty { form.add(resourceParameter.rawValue, Scopes.joined(texts)) }
    case .unsent: break
    }
  }

  /// Adds the parameter of a token request. With ``ResourceParameter/audience`` the configured resource is not sent
  /// again, because the provider already knows the audiences of the grant.
  /// - Parameter other: a resource to use instead of the configured resource.
  func addResource(_ other: String? = nil, to form: inout FormEncoding) {
    guard resourceParameter != .unsent else { return }
    let own = resourceParameter == .resource ? resource : nil
    if let text = other ?? own { form.add(resourceParameter.rawValue, text) }
  }
}

extension ResourceIdentifier {
  /// Whether `other` is the origin of this resource, so that it names the whole server.
  package func isAtHost(_ other: String) -> Bool {
    guard let url = try? StrictURL(other), url.hasSameOrigin(as: self.url), !url.hadFragment, url.query == nil
    else { return false }
    return url.path.count <= 1
  }

  /// Whether metadata with the resource `named` applies to this resource: `named` is the same text as this resource, or
  /// its origin.
  package func isServed(by named: String) -> Bool { ASCII.equals(text, named) || isAtHost(named) }
}
