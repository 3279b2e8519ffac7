// The C functions of a registration: its start, the redirect, the state, and the calls that change the state.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollPosix

/// Runs the body of a function whose output is a state.
func returningState(
  _ client: Handle?, _ state: StateOut?, _ error: ErrorOut?,
  _ body: (ClientHandle) throws(EnrollError) -> RegistrationState
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    try enroll_state.check(state)
    enroll_state(try body(handle)).write(to: state)
  }
}

/// Starts a call whose callback gets a state.
private func startingState(
  _ client: Handle?, _ callback: enroll_state_callback?, _ userData: UserData?, _ pending: HandleOut?,
  _ error: ErrorOut?,
  _ prepare: (ClientHandle) throws(EnrollError) ->
    @Sendable (Client, CancellationFlag) throws(EnrollError) -> RegistrationState
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let host = try HostCallback(callback, userData)
    let work = try prepare(handle)
    try handle.executor.start(pending) { cancellation throws(EnrollError) in
      try work(handle.client, cancellation)
    } deliver: { result in
      switch result {
      case .success(let value):
        var state = enroll_state(value)
        state.struct_size = MemoryLayout<enroll_state>.size
        host.function(host.userData, ENROLL_OK, &state, nil)
      case .failure(let failure):
        var error = enroll_error(failure)
        host.function(host.userData, failure.code.rawValue, nil, &error)
      }
    }
  }
}

private func url(
  _ pointer: UnsafePointer<CChar>?, _ size: Int, _ name: String = "url"
) throws(EnrollError) -> String {
  try TextInput(pointer, size, name).requiredText(limit: TextLimit.url)
}

func transactionID(
  _ pointer: UnsafePointer<CChar>?, _ size: Int
) throws(EnrollError) -> TransactionID {
  TransactionID(try TextInput(pointer, size, "transaction").requiredText(limit: TextLimit.name))
}

@_cdecl("enroll_registration_state") @implementation
public func enroll_registration_state(
  _ client: Handle?, _ wait: Int32, _ timeout_ms: Int64, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.registrationState(
      wait: wait != 0, until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_registration_state_start") @implementation
public func enroll_registration_state_start(
  _ client: Handle?, _ wait: Int32, _ timeout_ms: Int64, _ callback: enroll_state_callback?,
  _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingState(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let deadline = try handle.deadline(timeout_ms)
    return { client, cancellation throws(EnrollError) in
      try client.registrationState(wait: wait != 0, until: deadline, cancellation: cancellation)
    }
  }
}

@_cdecl("enroll_registration_begin") @implementation
public func enroll_registration_begin(
  _ client: Handle?, _ options: UnsafePointer<enroll_begin_options>?, _ timeout_ms: Int64,
  _ transaction: TransactionOut?, _ url: BufferOut?, _ redirect_uri: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    try enroll_transaction.check(transaction)
    let url = try require(url, "url")
    let begun = try handle.client.begin(
      try SignInOptions(options), until: try handle.deadline(timeout_ms), cancellation: handle.closing)
    let outputs = try enroll_buf.all([
      Secret(begun.action.url ?? ""), redirect_uri.map { _ in Secret(begun.redirectURI ?? "") },
    ])
    enroll_transaction(begun).write(to: transaction)
    url.pointee = outputs[0]
    redirect_uri?.pointee = outputs[1]
  }
}

@_cdecl("enroll_registration_begin_start") @implementation
public func enroll_registration_begin_start(
  _ client: Handle?, _ options: UnsafePointer<enroll_begin_options>?, _ timeout_ms: Int64,
  _ callback: enroll_begin_callback?, _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    let host = try HostCallback(callback, user_data)
    let options = try SignInOptions(options)
    let deadline = try handle.deadline(timeout_ms)
    try handle.executor.start(pending) { cancellation throws(EnrollError) in
      try handle.client.begin(options, until: deadline, cancellation: cancellation)
    } deliver: { result in
      switch result {
      case .success(let begun):
        var transaction = enroll_transaction(begun)
        transaction.struct_size = MemoryLayout<enroll_transaction>.size
        (begun.action.url ?? "").withCString { url in
          (begun.redirectURI ?? "").withCString { redirectURI in
            host.function(host.userData, ENROLL_OK, &transaction, url, redirectURI, nil)
          }
        }
      case .failure(let failure):
        var error = enroll_error(failure)
        host.function(host.userData, failure.code.rawValue, nil, nil, nil, &error)
      }
    }
  }
}

@_cdecl("enroll_registration_resume") @implementation
public func enroll_registration_resume(
  _ client: Handle?, _ url: TextIn?, _ url_size: Int, _ timeout_ms: Int64, _ state: StateOut?,
  _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.resume(
      try EnrollC.url(url, url_size), until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_registration_resume_transaction") @implementation
public func enroll_registration_resume_transaction(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ url: TextIn?, _ url_size: Int,
  _ timeout_ms: Int64, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.resume(
      try EnrollC.url(url, url_size), transactionID: try transactionID(transaction, transaction_size),
      until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_registration_resume_start") @implementation
public func enroll_registration_resume_start(
  _ client: Handle?, _ url: TextIn?, _ url_size: Int, _ timeout_ms: Int64, _ callback: enroll_state_callback?,
  _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingState(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let url = try EnrollC.url(url, url_size)
    let deadline = try handle.deadline(timeout_ms)
    return { client, cancellation throws(EnrollError) in
      try client.resume(url, until: deadline, cancellation: cancellation)
    }
  }
}

@_cdecl("enroll_registration_submit_code") @implementation
public func enroll_registration_submit_code(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ code: TextIn?, _ code_size: Int,
  _ timeout_ms: Int64, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.submitCode(
      Secret(try TextInput(code, code_size, "code").requiredText(limit: TextLimit.name)),
      transactionID: try transactionID(transaction, transaction_size),
      until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

extension LinkRefusal {
  /// The reason as the number of a constant ENROLL_URL_*.
  fileprivate var number: Int32 {
    switch reason {
    case .unsolicited: ENROLL_URL_UNSOLICITED
    case .used: ENROLL_URL_LINK_USED
    case .expired: ENROLL_URL_LINK_EXPIRED
    }
  }

  /// The offers as the sum of their constants ENROLL_OFFER_*.
  fileprivate var bits: Int32 {
    offers.reduce(0) { bits, offer in
      switch offer {
      case .signIn: bits | ENROLL_OFFER_SIGN_IN
      case .register: bits | ENROLL_OFFER_REGISTER
      }
    }
  }
}

@_cdecl("enroll_registration_handle_link") @implementation
public func enroll_registration_handle_link(
  _ client: Handle?, _ link: TextIn?, _ link_size: Int, _ timeout_ms: Int64, _ kind: Int32Out?,
  _ offers: Int32Out?, _ transaction: TransactionOut?, _ url: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    try enroll_transaction.check(transaction)
    let url = try require(url, "url")
    let outcome = try handle.client.handleLink(
      try EnrollC.url(link, link_size, "link"), until: try handle.deadline(timeout_ms),
      cancellation: handle.closing)
    switch outcome {
    case .begun(let begun):
      url.pointee = try enroll_buf(begun.action.url ?? "")
      enroll_transaction(begun).write(to: transaction)
      kind?.pointee = ENROLL_URL_BEGUN
      offers?.pointee = 0
    case .refused(let refusal):
      kind?.pointee = refusal.number
      offers?.pointee = refusal.bits
    }
  }
}

@_cdecl("enroll_registration_await_outcome") @implementation
public func enroll_registration_await_outcome(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ timeout_ms: Int64, _ state: StateOut?,
  _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.awaitTransaction(
      try transactionID(transaction, transaction_size), until: try handle.deadline(timeout_ms),
      cancellation: handle.closing)
  }
}

@_cdecl("enroll_registration_await_outcome_start") @implementation
public func enroll_registration_await_outcome_start(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ timeout_ms: Int64,
  _ callback: enroll_state_callback?, _ user_data: UserData?, _ pending: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  startingState(client, callback, user_data, pending, error) { handle throws(EnrollError) in
    let transactionID = try transactionID(transaction, transaction_size)
    let deadline = try handle.deadline(timeout_ms)
    return { client, cancellation throws(EnrollError) in
      try client.awaitTransaction(transactionID, until: deadline, cancellation: cancellation)
    }
  }
}

@_cdecl("enroll_registration_retry") @implementation
public func enroll_registration_retry(
  _ client: Handle?, _ timeout_ms: Int64, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.retry(until: try handle.deadline(timeout_ms), cancellation: handle.closing)
  }
}

@_cdecl("enroll_registration_cancel") @implementation
public func enroll_registration_cancel(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.cancel(
      try TextInput(transaction, transaction_size, "transaction").text(limit: TextLimit.name)
        .map { TransactionID($0) })
  }
}

@_cdecl("enroll_registration_other_app_missing") @implementation
public func enroll_registration_other_app_missing(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.otherAppMissing(try transactionID(transaction, transaction_size))
  }
}

@_cdecl("enroll_registration_clear") @implementation
public func enroll_registration_clear(_ client: Handle?, _ state: StateOut?, _ error: ErrorOut?)
  -> enroll_status
{
  returningState(client, state, error) { handle throws(EnrollError) in try handle.client.clear() }
}

@_cdecl("enroll_registration_deregister") @implementation
public func enroll_registration_deregister(
  _ client: Handle?, _ timeout_ms: Int64, _ url: BufferOut?, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    let ended = try handle.client.deregister(
      until: try handle.deadline(timeout_ms), cancellation: handle.closing)
    if let url { url.pointee = try enroll_buf(ended.url ?? "") }
    return handle.client.lastKnownState
  }
}

@_cdecl("enroll_url_handle") @implementation
public func enroll_url_handle(
  _ client: Handle?, _ url: TextIn?, _ url_size: Int, _ timeout_ms: Int64, _ kind: Int32Out?,
  _ state: StateOut?, _ offers: Int32Out?, _ transaction: TransactionOut?, _ next_url: BufferOut?,
  _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let handle = try ClientHandle.find(client)
    try enroll_state.check(state)
    try enroll_transaction.check(transaction)
    let handled = try handle.client.handle(
      try EnrollC.url(url, url_size), until: try handle.deadline(timeout_ms), cancellation: handle.closing)
    switch handled {
    case .registration(let value):
      enroll_state(value).write(to: state)
      kind?.pointee = ENROLL_URL_REGISTRATION
    case .logoutFinished: kind?.pointee = ENROLL_URL_LOGOUT
    case .begun(let begun):
      if let next_url { next_url.pointee = try enroll_buf(begun.action.url ?? "") }
      enroll_transaction(begun).write(to: transaction)
      kind?.pointee = ENROLL_URL_BEGUN
    case .refused(let refusal):
      kind?.pointee = refusal.number
      offers?.pointee = refusal.bits
    case .unsolicited: kind?.pointee = ENROLL_URL_UNSOLICITED
    }
  }
}
