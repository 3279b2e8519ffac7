// A program that test_ios.py starts: a client with the plugin's transport, which runs one command.
//   main CONFIGURATION COMMAND PARAMETERS    prints the status's name and the result
// CONFIGURATION and PARAMETERS are JSON.

import CEnroll
import Foundation

setvbuf(stdout, nil, _IOLBF, 0)
let words = CommandLine.arguments
let (configuration, command, parameters) = (words[1], words[2], words[3])
var error = newError()
var options = enroll_client_options()
enroll_client_options_init(&options, MemoryLayout<enroll_client_options>.stride)
options.store = ENROLL_STORE_MEMORY
var client: OpaquePointer?
let opened = configuration.withCString { text in
  URLSessionTransport.withStruct { transport in
    options.configuration = text
    options.configuration_size = strlen(text)
    options.transport = transport
    return enroll_client_new(&options, &client, &error)
  }
}
guard opened == ENROLL_OK else {
  print(String(cString: enroll_status_name(opened)), EnrollFailure(error).detail["message"] ?? "")
  exit(0)
}
let finished = DispatchSemaphore(value: 0)
var pending: OpaquePointer?
let started = enroll_call_start(
  client, command, command.utf8.count, parameters, parameters.utf8.count, 60_000,
  { semaphore, status, result, size, error in
    let text = result.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: size), as: UTF8.self) } ?? ""
    print(String(cString: enroll_status_name(status)), text)
    Unmanaged<DispatchSemaphore>.fromOpaque(semaphore!).takeUnretainedValue().signal()
  }, Unmanaged.passUnretained(finished).toOpaque(), &pending, &error)
guard started == ENROLL_OK else {
  print(String(cString: enroll_status_name(started)), EnrollFailure(error).detail["message"] ?? "")
  exit(0)
}
finished.wait()
enroll_pending_free(pending)
enroll_client_free(client)
