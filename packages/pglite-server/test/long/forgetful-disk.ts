// Loaded before a process (`node --import`). It keeps, beside a folder, the content that the disk would have after a
// power failure. Names and sizes of files are there at once, as with a journal of metadata. Written data are there once
// the file was synced, or by chance, because a kernel may write back at any time.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { seededRandom } from '@terrane/core'

/** A file that was written to. */
interface Written {
  path: string
  /** Offsets and lengths of data that the disk does not have. */
  pending: [number, number][]
}

/** Share of writes that reach the disk without a sync. */
const BY_CHANCE = 0.3

// oxlint-disable-next-line node/no-process-env -- Set by the test.
const { FORGETFUL_LIVE: live = '', FORGETFUL_DISK: disk = '', FORGETFUL_SEED: seed = '1' } = process.env
const random = seededRandom(Number(seed))
const original = { ...fs }
const files = new Map<string, Written>()
const open = new Map<number, Written>()

const isLive = (path: unknown): path is string => typeof path === 'string' && path.startsWith(`${live}/`)
const onDisk = (path: string) => disk + path.slice(live.length)

function written(path: string): Written {
  const known = files.get(path)
  if (known) return known
  const file: Written = { path, pending: [] }
  files.set(path, file)
  return file
}

/** Copies a part of the live file, as far as it exists. */
function keep(file: Written, [at, length]: [number, number]): void {
  const from = original.openSync(file.path, 'r')
  const to = original.openSync(onDisk(file.path), original.existsSync(onDisk(file.path)) ? 'r+' : 'w')
  const bytes = Buffer.alloc(length)
  original.writeSync(to, bytes, 0, original.readSync(from, bytes, 0, length, at), at)
  original.closeSync(from)
  original.closeSync(to)
}

function sync(fd: number): void {
  const file = open.get(fd)
  for (const part of file?.pending.splice(0) ?? []) keep(file!, part)
}

Object.assign(fs, {
  openSync(path: string, flags: string | number, mode?: number) {
    const isNew = isLive(path) && !original.existsSync(path)
    const fd = original.openSync(path, flags, mode)
    if (isLive(path) && original.fstatSync(fd).isFile()) {
      open.set(fd, written(path))
      if (isNew) original.writeFileSync(onDisk(path), '')
    }
    return fd
  },
  closeSync(fd: number) {
    open.delete(fd)
    original.closeSync(fd)
  },
  writeSync(fd: number, ...write: [bytes: Uint8Array, offset: number, length: number, position: number]) {
    const position = write[3]
    const count = original.writeSync(fd, ...write)
    const file = open.get(fd)
    if (!file) return count
    file.pending.push([position, count])
    if (random() < BY_CHANCE) keep(file, [position, count])
    return count
  },
  fsyncSync: sync,
  fdatasyncSync: sync,
  writeFileSync(path: string, data: string, options: object) {
    original.writeFileSync(path, data, options)
    if (isLive(path)) original.writeFileSync(onDisk(path), data)
  },
  renameSync(from: string, to: string) {
    original.renameSync(from, to)
    if (!isLive(from)) return
    original.renameSync(onDisk(from), onDisk(to))
    const file = written(from)
    files.delete(from)
    file.path = to
    files.set(to, file)
  },
  unlinkSync(path: string) {
    original.unlinkSync(path)
    if (!isLive(path)) return
    original.rmSync(onDisk(path), { force: true })
    files.delete(path)
  },
  truncateSync(path: string, length: number) {
    original.truncateSync(path, length)
    if (isLive(path)) original.truncateSync(onDisk(path), length)
  },
  mkdirSync(path: string, options: object) {
    const made = original.mkdirSync(path, options)
    if (isLive(path)) original.mkdirSync(onDisk(path), { recursive: true })
    return made
  },
  rmdirSync(path: string) {
    original.rmdirSync(path)
    if (isLive(path)) original.rmdirSync(onDisk(path))
  },
})
syncBuiltinESMExports()
