import { closeSync, fdatasyncSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Extension } from '@electric-sql/pglite'
import type { SyncMode } from './engine.ts'

/** An open file or folder of Emscripten's file system on that of the machine. */
interface OpenFile {
  /** Absent for folders. */
  readonly nfd?: number
  readonly node: object
}

type Operations<Name extends string> = Record<Name, (...parameters: never[]) => unknown>

/** Emscripten's file system over a folder of the machine. */
interface MachineFiles {
  realPath(node: object): string
  readonly node_ops: Operations<'rename' | 'setattr' | 'unlink'>
  readonly stream_ops: {
    fsync?: (file: OpenFile) => number
    close: (file: OpenFile) => void
    write: (file: OpenFile, ...parameters: readonly unknown[]) => number
  }
}

interface EngineOptions {
  readonly preRun?: readonly ((module: { readonly FS: { readonly filesystems: { NODEFS: MachineFiles } } }) => void)[]
}

/** Delay of the sync in the mode `soon`, in milliseconds; see {@link SyncMode}. */
const SOON_MS = 200

/** Settings of a server that syncs its files. Its build has an empty `fdatasync`, so `fsync` is used. */
export const SYNC_SETTINGS = ['fsync=on', 'wal_sync_method=fsync']

/** Implements `fsync` for the engine, whose file system has none. */
export function syncedFiles(mode: SyncMode): Extension {
  return {
    name: 'synced files',
    setup: async (_db, options: EngineOptions) => {
      const preRun = [...(options.preRun ?? []), preRunOf(mode)]
      return { emscriptenOpts: { ...options, preRun } }
    },
  }
}

function preRunOf(mode: SyncMode): NonNullable<EngineOptions['preRun']>[number] {
  return ({ FS }) => syncFiles(FS.filesystems.NODEFS, mode)
}

/** Adds `fsync` to a file system; see {@link SyncMode}. */
function syncFiles(files: MachineFiles, mode: SyncMode): void {
  const { node_ops: nodes, stream_ops: streams } = files
  const late = new Set<OpenFile>()
  const kinds = new WeakMap<object, boolean>()
  const isLog = (node: object) => {
    const isKnown = kinds.get(node) ?? /[\\/]pg_wal[\\/]/.test(files.realPath(node))
    kinds.set(node, isKnown)
    return isKnown
  }
  const syncLate = () => {
    for (const { nfd } of late) if (nfd !== undefined) fdatasyncSync(nfd)
    late.clear()
  }
  streams.fsync = (file) => {
    const { nfd, node } = file
    if (nfd === undefined) syncFolder(files.realPath(node))
    else if (mode === 'soon' && isLog(node)) {
      if (late.size === 0) setTimeout(syncLate, SOON_MS).unref()
      late.add(file)
    } else {
      syncLate()
      fdatasyncSync(nfd)
    }
    return 0
  }
  if (mode === 'commit') return
  const { close, write } = streams
  streams.close = (file) => {
    if (late.has(file)) syncLate()
    close(file)
  }
  // The log must be on the disk before the pages that it describes.
  streams.write = (file, ...parameters) => {
    if (late.size > 0 && !isLog(file.node)) syncLate()
    return write(file, ...parameters)
  }
  for (const name of ['rename', 'setattr', 'unlink'] as const) {
    const operation = nodes[name]
    nodes[name] = (...parameters) => {
      syncLate()
      return operation(...parameters)
    }
  }
}

/** Syncs a new data folder, because the program that makes it does not. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else if (entry.isFile()) sync(path)
  }
  syncFolder(folder)
}

function syncFolder(path: string): void {
  // Windows cannot open folders.
  if (process.platform !== 'win32') sync(path)
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
