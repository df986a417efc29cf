import { createReadStream } from 'node:fs'
import { dirname } from 'node:path/posix'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import type { Extension } from '@electric-sql/pglite'
import { postgis } from '@electric-sql/pglite-postgis'
import { extract, pack } from 'tar-stream'

/** A file for the engine, by its path in the archive that held it; a folder has no bytes. */
interface ArchivedFile {
  readonly path: string
  readonly bytes: Buffer | null
}

/** The part of Emscripten's file system that is used here. */
interface FileSystem {
  mkdirTree(path: string): void
  writeFile(path: string, bytes: Uint8Array, options: { readonly canOwn: boolean }): void
  truncate(path: string, size: number): void
}

/** Options of an engine before its start. The file system exists when `preRun` is called. */
interface EngineOptions {
  readonly preRun?: readonly ((module: { readonly FS: FileSystem }) => void)[]
}

/** Folders of an engine's installation and of its data. */
const INSTALLATION = '/pglite'
const DATA = '/pglite/data'
/** A segment of the write-ahead log, whose size is the server's default. */
const WAL_SEGMENT = /^\/?pg_wal\/([0-9A-F]{24})$/
const WAL_SEGMENT_SIZE = 1 << 24
/** Bytes that are unpacked at a time. */
const CHUNK = 1 << 20
/**
 * Files that PostGIS needs for installation, use and updates: a third of the 95 MB of its bundle. The other libraries
 * in it (raster, topology) take seconds to compile, and Terrane makes none of those extensions.
 */
const POSTGIS =
  /^(?:lib\/postgresql\/postgis-3\.so|share\/proj\/.+|share\/postgresql\/extension\/postgis(?:\.control|--(?!unpackaged).+\.sql))$/

/** PostGIS without raster, topology and geocoder, compiled when a statement first needs it. */
export const postgisAlone: Extension = {
  name: 'postgis',
  setup: async (db, options: EngineOptions) => {
    const { bundlePath } = await postgis.setup(db, options)
    if (bundlePath === undefined) throw new Error('the package of PostGIS names no bundle')
    const bundle = createReadStream(bundlePath).pipe(createGunzip({ chunkSize: CHUNK }))
    return withFiles(options, INSTALLATION, await filesOf(bundle, POSTGIS))
  },
}

/** The data folder of a snapshot, as an extension: an engine with it continues from the state of the snapshot. */
export function dataFrom(snapshot: Uint8Array): Extension {
  return {
    name: 'data',
    setup: async (_db, options: EngineOptions) => withFiles(options, DATA, await filesOf(archiveOf(snapshot))),
  }
}

/**
 * A data folder without the parts that a start does not read: segments of the write-ahead log other than the one that
 * holds the redo of the last checkpoint, `redo`, and the zeros at its end. These parts are most of an empty database.
 */
export async function withoutOldLog(dataFolder: Uint8Array, redo: string): Promise<Uint8Array<ArrayBuffer>> {
  const kept = pack()
  const bytes = buffer(kept)
  for await (const entry of archiveOf(dataFolder).pipe(extract())) {
    const content = await buffer(entry)
    const segment = WAL_SEGMENT.exec(entry.header.name)?.[1]
    if (segment !== undefined && segment !== redo) continue
    const size = segment === undefined ? content.length : content.findLastIndex((byte) => byte !== 0) + 1
    kept.entry({ ...entry.header, size }, content.subarray(0, size))
  }
  kept.finalize()
  return Uint8Array.from(await bytes)
}

function archiveOf(bytes: Uint8Array): Readable {
  return Readable.from([Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)])
}

function withFiles(options: EngineOptions, root: string, files: readonly ArchivedFile[]) {
  const put = ({ FS }: { readonly FS: FileSystem }) => {
    for (const { path, bytes } of files) {
      const target = `${root}/${path}`
      FS.mkdirTree(bytes === null ? target : dirname(target))
      if (bytes !== null) FS.writeFile(target, bytes, { canOwn: true })
      if (WAL_SEGMENT.test(path)) FS.truncate(target, WAL_SEGMENT_SIZE)
    }
  }
  return { emscriptenOpts: { ...options, preRun: [...(options.preRun ?? []), put] } }
}

/** The files and folders in a tar archive whose paths match. */
async function filesOf(archive: Readable, wanted = /./): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = []
  for await (const entry of archive.pipe(extract())) {
    const path = entry.header.name.replace(/^\.?\//, '')
    const chunks: Buffer[] = []
    for await (const chunk of entry) if (wanted.test(path)) chunks.push(chunk as Buffer)
    if (!wanted.test(path)) continue
    // Most files come in one piece, which need not be copied again.
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    files.push({ path, bytes: entry.header.type === 'directory' ? null : bytes })
  }
  return files
}
