import type { IFs } from 'memfs'
import { insideTmp } from './volume.ts'

type Call = (...args: unknown[]) => unknown
/** Node's `fs`, whose functions are replaced by name. */
export type NodeFs = Record<string, unknown> & { readonly promises: Record<string, unknown> }

/** Functions whose first argument is a path (or the descriptor of an open file), and those with two paths. */
const ONE = [
  'access appendFile chmod chown createReadStream createWriteStream exists lchmod lchown lstat lutimes mkdir mkdtemp open',
  'opendir readFile readdir readlink rm rmdir stat statfs truncate unlink utimes writeFile realpath',
]
  .join(' ')
  .split(' ')
const TWO = ['copyFile', 'link', 'rename', 'cp']
const DESCRIPTORS = 'close fchmod fchown fdatasync fstat fsync ftruncate futimes read readv write writev'.split(' ')
/** memfs counts its descriptors down from the largest; the system's descriptors are small. */
const LEAST_DESCRIPTOR = 0x40_00_00_00

/** Redirects `node:fs` to memory for `/tmp`. All other paths are passed through. */
export function keepNodeFiles(fs: NodeFs, volume: IFs): void {
  const memory = volume as unknown as NodeFs
  for (const [real, kept] of [[fs, memory] as const, [fs.promises, memory.promises] as const]) {
    for (const name of ONE.flatMap((one) => [one, `${one}Sync`])) replace(real, kept, name, ([path]) => isKept(path))
    for (const name of TWO.flatMap((two) => [two, `${two}Sync`]))
      replace(real, kept, name, ([from, to]) => isKept(from) && isKept(to))
    for (const name of DESCRIPTORS.flatMap((one) => [one, `${one}Sync`]))
      replace(real, kept, name, ([fd]) => isKept(fd))
    for (const name of ['symlink', 'symlinkSync']) replace(real, kept, name, ([, path]) => isKept(path))
  }
  copyIn(fs, volume)
}

function replace(
  real: Record<string, unknown>,
  kept: Record<string, unknown>,
  name: string,
  isOurs: (args: readonly unknown[]) => boolean,
): void {
  const before = real[name] as Call | undefined
  const instead = kept[name] as Call | undefined
  if (typeof before !== 'function' || typeof instead !== 'function') return
  const chosen = (...args: unknown[]) => (isOurs(args) ? instead.apply(kept, args) : before.apply(real, args))
  // Keeps properties of the function itself: `realpath.native`, the promise form.
  Object.defineProperties(chosen, Object.getOwnPropertyDescriptors(before))
  if (name.startsWith('realpath')) Object.assign(chosen, { native: chosen })
  real[name] = chosen
}

const isIn = (from: unknown, to: unknown) => isKept(to) && !isKept(from)

/** Allows copying a static file into the folder. */
function copyIn(fs: NodeFs, volume: IFs): void {
  const [copy, copySync] = [fs.promises['copyFile'], fs['copyFileSync']] as [Call, Call]
  const [read, readSync] = [fs.promises['readFile'], fs['readFileSync']] as [Call, Call]
  fs.promises['copyFile'] = async (from: unknown, to: unknown, ...rest: unknown[]) => {
    if (!isIn(from, to)) return copy(from, to, ...rest)
    return volume.promises.writeFile(to as string, (await read(from)) as Uint8Array)
  }
  fs['copyFileSync'] = (from: unknown, to: unknown, ...rest: unknown[]) =>
    isIn(from, to) ? volume.writeFileSync(to as string, readSync(from) as Uint8Array) : copySync(from, to, ...rest)
}

function isKept(place: unknown): boolean {
  return typeof place === 'number' ? place >= LEAST_DESCRIPTOR : insideTmp(place) !== null
}
