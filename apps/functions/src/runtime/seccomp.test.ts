import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findProgram } from './machine.ts'
import { seccompFilter } from './seccomp.ts'

const filter = process.platform === 'linux' ? seccompFilter(process.arch) : null
// oxlint-disable-next-line node/no-process-env -- Where the sandbox and the tools of the test are.
const path = process.env['PATH'] ?? ''
const [bwrap, python] = await Promise.all([findProgram('bwrap', path), findProgram('python3', '/usr/bin')])
const missing =
  filter === null
    ? 'no filter for this machine'
    : bwrap === null
      ? 'bubblewrap is not installed'
      : python === null
        ? 'there is no /usr/bin/python3'
        : ''

test('every jump lands in the program, and the last instructions are the verdicts', () => {
  for (const machine of ['x64', 'arm64']) {
    const bytes = seccompFilter(machine)!
    const count = bytes.length / 8
    for (let i = 0; i < count; i++)
      for (const jump of [bytes[i * 8 + 2]!, bytes[i * 8 + 3]!])
        expect(i + 1 + jump).toBeLessThan(count + (i === count - 1 ? 1 : 0))
    expect(bytes.readUInt32LE((count - 5) * 8 + 4).toString(16)).toBe('7fff0000')
  }
  expect(seccompFilter('mips')).toBeNull()
})

/** Makes raw system calls under the filter and returns each result: `ok` or the error number. */
function underFilter(calls: readonly string[]): string[] {
  const script = `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    return 'ok' if libc.syscall(*args) >= 0 else str(ctypes.get_errno())
def make(family, kind):
    try:
        socket.socket(family, kind).close()
        return 'ok'
    except OSError as error:
        return str(error.errno)
def fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
    return 'ok'
${calls.map((each) => `print(${each})`).join('\n')}
`
  const folder = mkdtempSync(join(tmpdir(), 'terrane-seccomp-'))
  writeFileSync(join(folder, 'filter'), filter!)
  const descriptor = openSync(join(folder, 'filter'), 'r')
  try {
    const mounts = ['/usr', '/lib', '/lib64', '/bin'].flatMap((each) =>
      existsSync(each) ? ['--ro-bind', each, each] : [],
    )
    const args = ['--unshare-user', '--unshare-pid', '--seccomp', '3', ...mounts, '--proc', '/proc', '--dev', '/dev']
    const run = spawnSync(bwrap!, [...args, python!, '-c', script], { stdio: ['ignore', 'pipe', 'pipe', descriptor] })
    expect(run.stderr.toString()).toBe('')
    return run.stdout.toString().trim().split('\n')
  } finally {
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  }
}

const EPERM = '1'
const ENOSYS = '38'
const EAFNOSUPPORT = '97'
/** Numbers of the same calls on the two machines. */
const numbers =
  process.arch === 'x64'
    ? { ptrace: 101, unshare: 272, clone: 56, keyctl: 250, bpf: 321, getpid: 39 }
    : { ptrace: 117, unshare: 97, clone: 220, keyctl: 219, bpf: 280, getpid: 172 }

describe.skipIf(missing !== '')(`the filter at work${missing === '' ? '' : `: NOT RUN, ${missing}`}`, () => {
  test('an ordinary program lives: files, threads, processes, unix sockets', () => {
    const calls = [
      'fork()',
      'make(socket.AF_UNIX, socket.SOCK_STREAM)',
      `call(${numbers.getpid})`,
      `len(open('/proc/self/status').read()) > 0`,
    ]
    expect(underFilter(calls)).toEqual(['ok', 'ok', 'ok', 'True'])
  })

  test('the calls of the list are denied', () => {
    const { ptrace, unshare, keyctl, bpf } = numbers
    expect(underFilter([ptrace, unshare, keyctl, bpf].map((number) => `call(${number}, 0, 0, 0, 0)`))).toEqual(
      Array(4).fill(EPERM),
    )
    expect(underFilter([425, 428, 438].map((number) => `call(${number}, 0, 0, 0)`))).toEqual(Array(3).fill(EPERM))
  })

  test('no socket but a unix one, no namespace by clone, no clone3', () => {
    const families = [2, 10, 16, 17, 38, 40]
    expect(underFilter(families.map((family) => `make(${family}, socket.SOCK_DGRAM)`))).toEqual(
      families.map(() => EAFNOSUPPORT),
    )
    expect(underFilter([`call(${numbers.clone}, 0x10000000 | 17, 0, 0, 0, 0)`, 'call(435, 0, 0)'])).toEqual([
      EPERM,
      ENOSYS,
    ])
  })
})
