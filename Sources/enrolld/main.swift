// enrolld: EnrollKit for any language, as JSON-RPC 2.0 on stdin and stdout (json-rpc.md).

import CPosix
import EnrollCommands
import EnrollHost
import EnrollJSON

enroll_posix_open_missing_streams()
switch Arguments.read() {
case .serve(let level): exit(Daemon.serve(Log(level)))
case .help: print(Arguments.help, terminator: "")
case .version: print("enrolld \(LibraryVersion.string)")
case .manifest: print(String(decoding: Manifest.json.serialized(), as: UTF8.self))
case .refused: exit(2)
}
