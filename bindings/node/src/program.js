// Finds the enrolld to run: the one that the caller names, the one in the environment variable ENROLLD, or
// the one in this package for the platform, the architecture and the C library of this process.

import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { invalid, unusable } from './error.js';
import { isUnreadable } from './given.js';

/** The architectures by their number in an ELF file. */
const MACHINES = { 0x03: 'x86', 0x28: 'arm', 0x3e: 'x64', 0xb7: 'arm64', 0xf3: 'riscv64' };
const CARRIED = ['x64', 'arm64'];

/**
 * The format of a file: {machine, loader} for an ELF program, {isScript} for a script, {} for any other file.
 * `loader`: the path of the program's dynamic loader, if it has one.
 */
export function formatOf(path) {
  let file;
  try {
    file = openSync(path, 'r');
    const head = Buffer.alloc(64);
    const length = readSync(file, head, 0, 64, 0);
    if (head.toString('latin1', 0, 2) === '#!') return { isScript: true };
    if (length < 20 || head.readUInt32BE(0) !== 0x7f454c46) return {};
    const number = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
    const found = { machine: MACHINES[number] ?? `the ELF machine ${number}` };
    // Only 64-bit, little-endian programs have program headers at these offsets.
    if (head[4] !== 2 || head[5] !== 1) return found;
    const [start, size, count] = [Number(head.readBigUInt64LE(0x20)), head.readUInt16LE(0x36), head.readUInt16LE(0x38)];
    const headers = Buffer.alloc(size * count);
    const read = readSync(file, headers, 0, headers.length, start);
    for (let at = 0; size >= 56 && at + size <= read; at += size) {
      // 3 is PT_INTERP, the header with the path of the dynamic loader.
      if (headers.readUInt32LE(at) !== 3) continue;
      const name = Buffer.alloc(Math.min(4096, Number(headers.readBigUInt64LE(at + 0x20))));
      readSync(file, name, 0, name.length, Number(headers.readBigUInt64LE(at + 0x08)));
      found.loader = name.toString().replace(/\0.*$/s, '');
    }
    return found;
  } catch {
    return {};
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The folder of this package that has the program for this platform, architecture and dynamic loader. */
export function folderFor(platform, arch, loader) {
  if (platform !== 'linux' || !CARRIED.includes(arch)) {
    throw unusable(
      `enrollkit has no enrolld for ${platform}-${arch}: it has one for Linux on x64 and on arm64; name another program ` +
        'in the option `program` or in the environment variable ENROLLD',
    );
  }
  return `linux-${arch}-${/\bld-musl-/.test(loader ?? '') ? 'musl' : 'glibc'}`;
}

/** The path of the unpacked copy of a file, if an Electron app has the file in an asar archive: only unpacked files
 *  can be run. */
export const unpacked = (path) => path.replace(/\bapp\.asar(?=\/)/, 'app.asar.unpacked');

/** The absolute path of the program. A named path may be relative to the working directory. */
export function findProgram(named = process.env.ENROLLD || undefined) {
  if (named === '') throw invalid('program', 'start: program: expected the path of an enrolld, got an empty string');
  if (named !== undefined && isUnreadable(named)) {
    throw invalid('program', 'start: program: expected the path of an enrolld, got one with a NUL character or half of a character');
  }
  const carried = () => {
    const folder = folderFor(process.platform, process.arch, formatOf(process.execPath).loader);
    return unpacked(fileURLToPath(new URL(`../native/${folder}/enrolld`, import.meta.url)));
  };
  // A name without a folder would be looked up in PATH when the program is started, and could be another program than
  // the checked one.
  const path = resolve(named ?? carried());
  let stat;
  try {
    stat = statSync(path, { throwIfNoEntry: false });
  } catch (fault) {
    if (fault.code !== 'ENOTDIR') throw notStarted(path, fault);
  }
  if (!stat) {
    const hint = named === undefined ? '; reinstall the package, or name another program in ENROLLD' : '';
    throw unusable(`enrolld was not found: there is no ${path}${hint}`);
  }
  if (stat.isDirectory()) throw unusable(`enrolld could not be started: ${path} is a folder; name the program in it`);
  if (!stat.isFile() || !permits(path, constants.X_OK)) {
    throw unusable(`enrolld could not be started: ${path} is not an executable file`);
  }
  // A program that may be run but not read is not checked here.
  if (permits(path, constants.R_OK)) checkFormat(path);
  return path;
}

function permits(path, mode) {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Checks the format of the program before it is started, because the C library uses a shell to run a file that the
 * system cannot load. */
function checkFormat(path) {
  const { machine, loader, isScript } = formatOf(path);
  const refuse = (why) => unusable(`enrolld could not be started: ${path} ${why}`);
  if (machine === undefined && !isScript) throw refuse('is neither a program of this system nor a script');
  if (machine !== undefined && machine !== process.arch) {
    throw refuse(`is a program for ${machine}, and this process is one for ${process.arch}`);
  }
  if (loader !== undefined && !existsSync(loader)) {
    throw refuse(`needs ${loader}, which is not on this machine: it was built for another C library`);
  }
}

/** The meaning of the system's error codes for a program that was checked before. */
const REASONS = {
  EACCES: 'this user has no permission, or its file system does not allow programs to be run',
  EAGAIN: 'this user has as many processes as the system allows',
  ELOOP: 'its symbolic links lead to one another',
  EMFILE: 'this process has as many open files as the system allows',
  ENAMETOOLONG: 'the path is too long',
  ENFILE: 'the system has as many open files as it allows',
  ENOENT: 'the interpreter that its first line names is not there',
  ENOEXEC: 'it is no program for this system',
  ENOMEM: 'the system has no memory for it',
  ETXTBSY: 'it is being written',
};

/** The error for a program that the system did not start. */
export const notStarted = (path, fault) => {
  const reason = REASONS[fault.code] ? `${REASONS[fault.code]} (${fault.code})` : fault.code ?? fault.message;
  return unusable(`enrolld could not be started: ${path}: ${reason}`, { cause: fault });
};
