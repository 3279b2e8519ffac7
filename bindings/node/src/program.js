// Which enrolld is run: the one that the caller names, the one of ENROLLD in the environment, or the one in this package
// for the platform, the architecture and the C library of this process.

import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { unusable } from './error.js';

/** The architectures by their number in an ELF file. */
const MACHINES = { 0x03: 'x86', 0x28: 'arm', 0x3e: 'x64', 0xb7: 'arm64', 0xf3: 'riscv64' };
const CARRIED = ['x64', 'arm64'];

/**
 * {machine, loader} of an ELF program, {isScript} of a script; {} for any other file. `loader`: the program that loads it,
 * if it has one.
 */
export function formatOf(path) {
  let file;
  try {
    file = openSync(path, 'r');
    const head = Buffer.alloc(64);
    const length = readSync(file, head, 0, 64, 0);
    if (head.toString('latin1', 0, 2) === '#!') return { isScript: true };
    if (length < 20 || head.readUInt32BE(0) !== 0x7f454c46) return {};
    const number = head.readUInt16LE(18);
    const found = { machine: MACHINES[number] ?? `the ELF machine ${number}` };
    // Only 64-bit, little-endian programs have program headers at these places.
    if (head[4] !== 2 || head[5] !== 1) return found;
    const [start, size, count] = [Number(head.readBigUInt64LE(0x20)), head.readUInt16LE(0x36), head.readUInt16LE(0x38)];
    const headers = Buffer.alloc(size * count);
    const read = readSync(file, headers, 0, headers.length, start);
    for (let at = 0; size >= 56 && at + size <= read; at += size) {
      // PT_INTERP
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

/** The folder of this package that has the program for a process like this one. */
export function folderFor(platform, arch, loader) {
  if (platform !== 'linux' || !CARRIED.includes(arch)) {
    throw unusable(
      `enrollkit has no enrolld for ${platform}-${arch}: it has one for Linux on x64 and on arm64; name another program ` +
        'in the option `program` or in the environment variable ENROLLD',
    );
  }
  return `linux-${arch}-${/\bld-musl-/.test(loader ?? '') ? 'musl' : 'glibc'}`;
}

/** An Electron app in an archive: only unpacked files can be run. */
export const unpacked = (path) => path.replace(/\bapp\.asar(?=\/)/, 'app.asar.unpacked');

/** The path of the program. */
export function findProgram(named = process.env.ENROLLD || undefined) {
  const carried = () => {
    const folder = folderFor(process.platform, process.arch, formatOf(process.execPath).loader);
    return unpacked(fileURLToPath(new URL(`../native/${folder}/enrolld`, import.meta.url)));
  };
  const path = named ?? carried();
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) {
    const hint = named === undefined ? '; reinstall the package, or name another program in ENROLLD' : '';
    throw unusable(`enrolld was not found: there is no ${path}${hint}`);
  }
  let isExecutable = stat.isFile();
  try {
    accessSync(path, constants.X_OK);
  } catch {
    isExecutable = false;
  }
  if (!isExecutable) throw unusable(`enrolld could not be started: ${path} is not an executable file`);
  checkFormat(path);
  // A bare name would be looked for in PATH when it is started: another program than the one that was looked at.
  return resolve(path);
}

/** Before it is started: what the system cannot load, the C library gives to a shell. */
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

/** The error for a program that the system did not start. */
export const notStarted = (path, fault) => unusable(`enrolld could not be started: ${path}: ${fault.code ?? fault.message}`, { cause: fault });
