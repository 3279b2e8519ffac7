// enroll: EnrollKit for people, at a terminal and in scripts. It has no protocol rules of its own: every command
// calls methods of the client, and reports their results. The same code makes its JSON and the daemon's.

import CPosix
import EnrollPosix

// This call comes before any descriptor is opened. If standard output is closed, no file may get its number.
enroll_posix_open_missing_streams()
OtherProgram.noteStart()
// A reader that closes the pipe must not end this program. Until the command runs, other signals end this program.
enroll_posix_ignore_signal(SIGPIPE)
ProcessMemory.shareHeap()
exit(Enroll.run())
