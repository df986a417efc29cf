import { Volume, createFsFromVolume, type IFs } from 'memfs'

/** The one folder that a function may write to. */
export const TMP = '/tmp'

/** A folder that is excluded from `/tmp`. It is the working directory of the process, so relative paths begin there. */
let elsewhere = '/code'

/** Leaves the paths of the process's own folder on the real file system. */
export function leaveAlone(folder: string): void {
  elsewhere = folder
}

/** Members of memfs' nodes that are read and replaced to limit their size. */
interface Content {
  buf: Buffer
  capacity: number
  readonly size: number
  write: (this: Content, bytes: Uint8Array, offset?: number, length?: number, position?: number) => number
  truncate: (this: Content, length?: number) => void
  setBuffer: (this: Content, bytes: Uint8Array) => void
}

/** An in-memory file system with an empty `/tmp`. The total size of its files is limited. */
export function openVolume(limitBytes: number): IFs {
  const volume = new Volume()
  const core = (volume as unknown as { readonly _core: { readonly inodes: Readonly<Record<number, Content>> } })._core
  volume.mkdirSync(TMP)
  const node = Object.values(core.inodes)[0]!
  bound(Object.getPrototypeOf(node) as Content, () => Object.values(core.inodes), limitBytes)
  return createFsFromVolume(volume)
}

/** Lets contents grow by a quarter at a time, within the remaining space. */
function bound(prototype: Content, all: () => readonly Content[], limitBytes: number): void {
  const { write, truncate, setBuffer } = prototype
  const reserve = (content: Content, wanted: number) => {
    if (wanted <= content.capacity) return
    const others = all().reduce((sum, one) => sum + (one === content ? 0 : one.capacity), 0)
    if (others + wanted > limitBytes) throw full(limitBytes)
    // A first write gets the exact size, because most files are written once.
    const roomy = content.capacity === 0 ? wanted : Math.ceil(wanted * 1.25)
    const capacity = Math.min(limitBytes - others, roomy)
    const buf = Buffer.allocUnsafe(capacity)
    if (content.size > 0) content.buf.copy(buf, 0, 0, content.size)
    content.buf = buf
    content.capacity = capacity
  }
  prototype.write = function (bytes, offset = 0, length = bytes.length, position = 0) {
    reserve(this, position + Math.min(length, bytes.length - offset))
    return write.call(this, bytes, offset, length, position)
  }
  prototype.truncate = function (length = 0) {
    reserve(this, length)
    truncate.call(this, length)
  }
  prototype.setBuffer = function (bytes) {
    truncate.call(this, 0)
    reserve(this, bytes.length)
    if (bytes.length > 0) write.call(this, bytes, 0, bytes.length, 0)
    else setBuffer.call(this, bytes)
  }
}

function full(limitBytes: number): Error {
  const mb = Math.floor(limitBytes / 1024 / 1024)
  const text = `ENOSPC: /tmp is full: it holds ${mb} MB, which are memory of the function; raise "tmp_mb" in function.json`
  return Object.assign(new Error(text), { code: 'ENOSPC', errno: -28, syscall: 'write' })
}

/** The normalised absolute path, without `..`, of a path in {@link TMP}; null for other paths. */
export function insideTmp(path: unknown): string | null {
  const text = textOf(path)
  if (text === null) return null
  const parts: string[] = []
  for (const part of (text.startsWith('/') ? text : `${elsewhere}/${text}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const whole = `/${parts.join('/')}`
  return parts[0] === TMP.slice(1) && !`${whole}/`.startsWith(`${elsewhere}/`) ? whole : null
}

function textOf(path: unknown): string | null {
  if (typeof path === 'string') return path
  if (path instanceof URL) return path.protocol === 'file:' ? decodeURIComponent(path.pathname) : null
  return path instanceof Uint8Array ? new TextDecoder().decode(path) : null
}
