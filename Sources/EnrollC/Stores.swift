// Calls that need a store but no client.

public import CEnroll
import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollJSON

/// The key provider of a store. NULL means that the key is a file in the store's directory.
public typealias KeysIn = UnsafePointer<enroll_keys>

/// Runs a command on the store in a directory.
private func run(
  _ command: String, _ directory: TextIn?, _ size: Int, _ keys: KeysIn?, newKeys: KeysIn? = nil,
  _ more: () throws(EnrollError) -> [(String, JSON?)] = { [] }
) throws(EnrollError) -> JSON {
  let path = try TextInput(directory, size, "directory").requiredText(limit: TextLimit.path)
  return try CommandTable.call(
    command, .object([("store", .string(path))] + (try more())), client: nil, deadline: .distantFuture,
    cancellation: nil, keys: try KeyPlan.read(keys), newKeys: try KeyPlan.read(newKeys))
}

/// Like ``run(_:_:_:_:newKeys:_:)``, but for a command whose result is JSON, which goes into the output buffer.
private func answer(
  _ command: String, _ directory: TextIn?, _ size: Int, _ keys: KeysIn?, to output: BufferOut?,
  _ name: String, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(output, name)
    output.pointee = try enroll_buf(try run(command, directory, size, keys).serialized())
  }
}

@_cdecl("enroll_accounts_list") @implementation
public func enroll_accounts_list(
  _ directory: TextIn?, _ directory_size: Int, _ keys: KeysIn?, _ accounts: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  answer("accounts.list", directory, directory_size, keys, to: accounts, "accounts", error)
}

@_cdecl("enroll_accounts_remove") @implementation
public func enroll_accounts_remove(
  _ directory: TextIn?, _ directory_size: Int, _ keys: KeysIn?, _ account: TextIn?, _ account_size: Int,
  _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    _ = try run("accounts.remove", directory, directory_size, keys) { () throws(EnrollError) in
      let account = try TextInput(account, account_size, "account").requiredText(limit: TextLimit.name)
      return [("account", .string(account))]
    }
  }
}

@_cdecl("enroll_installation_reset") @implementation
public func enroll_installation_reset(
  _ directory: TextIn?, _ directory_size: Int, _ keys: KeysIn?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    _ = try run("installation.reset", directory, directory_size, keys)
  }
}

@_cdecl("enroll_store_diagnose") @implementation
public func enroll_store_diagnose(
  _ directory: TextIn?, _ directory_size: Int, _ keys: KeysIn?, _ diagnosis: BufferOut?, _ error: ErrorOut?
) -> enroll_status {
  answer("store.diagnose", directory, directory_size, keys, to: diagnosis, "diagnosis", error)
}

@_cdecl("enroll_store_rekey") @implementation
public func enroll_store_rekey(
  _ directory: TextIn?, _ directory_size: Int, _ keys: KeysIn?, _ new_keys: KeysIn?, _ new_data_key: Int32,
  _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    _ = try run("store.rekey", directory, directory_size, keys, newKeys: new_keys) { () throws(EnrollError) in
      [("newDataKey", .bool(new_data_key != 0))]
    }
  }
}
