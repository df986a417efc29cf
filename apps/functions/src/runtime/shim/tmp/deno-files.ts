import type { IFs } from 'memfs'
import { MemoryFile, infoOf, type OpenOptions } from './memory-file.ts'
import { TMP, insideTmp } from './volume.ts'

type Call = (...args: never[]) => unknown
/** Deno's file functions, which are replaced by name, and the errors that they throw. */
export type DenoFiles = Record<string, unknown> & {
  readonly errors: Readonly<Record<string, new (text: string) => Error>>
}

interface WriteOptions {
  readonly append?: boolean
  readonly create?: boolean
  readonly createNew?: boolean
  readonly mode?: number
}
interface TempOptions {
  readonly dir?: string
  readonly prefix?: string
  readonly suffix?: string
}

const CODES: Readonly<Record<string, string>> = {
  ENOENT: 'NotFound',
  EEXIST: 'AlreadyExists',
  EACCES: 'PermissionDenied',
  EPERM: 'PermissionDenied',
  ENOTDIR: 'NotADirectory',
  EISDIR: 'IsADirectory',
  EBADF: 'BadResource',
  ELOOP: 'FilesystemLoop',
}

/** Redirects Deno's file functions to memory for `/tmp`. All other paths are passed through. */
export function keepDenoFiles(deno: DenoFiles, volume: IFs): void {
  const sync = functionsOf(volume)
  const translated = (error: unknown) => {
    const { code, message } = error as { code?: string; message: string }
    const Named = deno.errors[CODES[code ?? ''] ?? '']
    return Named ? Object.assign(new Named(message), { code }) : error
  }
  for (const [name, make] of Object.entries(sync)) {
    const run = (args: readonly unknown[]) => {
      try {
        return make(...(args as never[]))
      } catch (error) {
        throw translated(error)
      }
    }
    const isOurs = isTemporary(name)
      ? ([options]: readonly unknown[]) => insideTmp((options as TempOptions)?.dir ?? TMP) !== null
      : isKept
    for (const [own, isAsync] of [[name, true] as const, [`${name}Sync`, false] as const]) {
      const before = deno[own] as Call
      const instead = (...args: unknown[]): unknown => {
        if (!isOurs(args)) return before.apply(deno, args as never[])
        if (name === 'readDir') return isAsync ? later(() => run(args) as Iterable<unknown>) : run(args)
        if (!isAsync) return run(args)
        if (args[1] instanceof ReadableStream) return gathered(args[1]).then((bytes) => run([args[0], bytes, args[2]]))
        return Promise.resolve().then(() => run(args))
      }
      Object.defineProperty(deno, own, { value: instead, configurable: true, writable: true })
    }
  }
}

function isTemporary(name: string): boolean {
  return name.startsWith('makeTemp')
}

function isKept([path]: readonly unknown[]): boolean {
  return insideTmp(path) !== null
}

const temporary = ({ dir = TMP, prefix = '', suffix = '' }: TempOptions = {}) =>
  `${dir}/${prefix}${crypto.randomUUID().slice(0, 8)}${suffix}`

/** The synchronous forms of Deno's functions; the asynchronous ones wrap them. */
function functionsOf(volume: IFs): Readonly<Record<string, Call>> {
  const open = (path: string, options: OpenOptions = { read: true }) => MemoryFile.open(volume, at(path), options)
  const write = (
    path: string,
    data: string | Uint8Array,
    { append, create = true, createNew, mode }: WriteOptions = {},
  ) => {
    const flag = createNew ? 'wx' : append ? 'a' : create ? 'w' : 'r+'
    if (!create) volume.truncateSync(at(path), 0)
    volume.writeFileSync(at(path), data, { flag, ...(mode !== undefined && { mode }) })
  }
  return {
    open,
    create: (path: string) => open(path, { read: true, write: true, create: true, truncate: true }),
    readFile: (path: string) => new Uint8Array(volume.readFileSync(at(path)) as Uint8Array),
    readTextFile: (path: string) => volume.readFileSync(at(path), 'utf8'),
    writeFile: write,
    writeTextFile: write,
    mkdir: (path: string, options?: object) => volume.mkdirSync(at(path), options),
    remove: (path: string, { recursive = false }: { recursive?: boolean } = {}) => {
      const isFolder = volume.lstatSync(at(path)).isDirectory()
      if (recursive) volume.rmSync(at(path), { recursive })
      else if (isFolder) volume.rmdirSync(at(path))
      else volume.unlinkSync(at(path))
    },
    rename: (from: string, to: string) => volume.renameSync(at(from), at(to)),
    copyFile: (from: string, to: string) => volume.copyFileSync(at(from), at(to)),
    link: (from: string, to: string) => volume.linkSync(at(from), at(to)),
    readLink: (path: string) => volume.readlinkSync(at(path), { encoding: 'utf8' }),
    stat: (path: string) => infoOf(volume.statSync(at(path))),
    lstat: (path: string) => infoOf(volume.lstatSync(at(path))),
    realPath: (path: string) => volume.realpathSync(at(path), 'utf8'),
    truncate: (path: string, length = 0) => volume.truncateSync(at(path), length),
    chmod: (path: string, mode: number) => volume.chmodSync(at(path), mode),
    utime: (path: string, atime: number | Date, mtime: number | Date) => volume.utimesSync(at(path), atime, mtime),
    readDir: (path: string) => entriesOf(volume.readdirSync(at(path), { withFileTypes: true }) as FileEntry[]),
    makeTempDir: (options?: TempOptions) => {
      const path = temporary(options)
      volume.mkdirSync(at(path))
      return path
    },
    makeTempFile: (options?: TempOptions) => {
      const path = temporary(options)
      volume.writeFileSync(at(path), '')
      return path
    },
  }
}

interface FileEntry {
  readonly name: string
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

/** Entries of a folder in Deno's form. */
function entriesOf(entries: readonly FileEntry[]): object[] {
  return entries.map((entry) => ({
    name: entry.name,
    isFile: entry.isFile(),
    isDirectory: entry.isDirectory(),
    isSymlink: entry.isSymbolicLink(),
  }))
}

/** @throws EXDEV for a path outside the folder in a call with one inside */
function at(path: string): string {
  const inside = insideTmp(path)
  if (inside === null) throw Object.assign(new Error(`EXDEV: ${path} is not in ${TMP}`), { code: 'EXDEV' })
  return inside
}

async function* later<T>(entries: () => Iterable<T>): AsyncGenerator<T> {
  yield* entries()
}

async function gathered(stream: ReadableStream<Uint8Array | string>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream.pipeThrough(asBytes())).arrayBuffer())
}

function asBytes(): TransformStream<Uint8Array | string, Uint8Array> {
  const encoder = new TextEncoder()
  return new TransformStream({
    transform: (chunk, out) => out.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk),
  })
}
