// enroll: EnrollKit for people, at a terminal and in scripts. It has no protocol rules of its own: every command calls
// methods of the client, and reports their results. The JSON output of this program and that of the daemon are made by
// the same code.

import CPosix
import EnrollPosix

// This call must come before any descriptor is opened. Otherwise, if standard output is closed, a file could get its
// number.
enroll_posix_open_missing_streams()
OtherProgram.noteStart()
// SIGPIPE is ignored, so that a reader that closes the pipe does not end this program. Until the command runs, other
// signals end the program.
enroll_posix_ignore_signal(SIGPIPE)
ProcessMemory.shareHeap()
exit(Enroll.run())
