import { constants } from 'node:fs'
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Warnings, type Warning } from '@terrane/core/errors'
import type { Engine } from './engine.ts'
import type { EncodedRows, FeatureBatch, LayerPlan, LayerSchema } from './feature-stream.ts'
import { fileTooLarge } from './errors.ts'
import { openDatasets } from './open-datasets.ts'
import type { ReadOptions } from './read-options.ts'
import { startReaderProcess } from './read/reader-process.ts'
import { SpareReader, type StartReader } from './read/reading.ts'
import { warnOfSkipped } from './unpack/find-datasets.ts'
import { unpackFile } from './unpack/unpack-file.ts'
import { wasmEngine } from './wasm-engine.ts'

const MAX_BYTES = 2 ** 30

/** Source of the bytes of a file: a path, which is copied, or a function that writes them to a given path. */
export type ByteSource = string | ((path: string) => Promise<void>)

/** Options for opening a file. */
export interface OpenOptions extends ReadOptions {
  /** Folder for unpacked and converted files; default: a temporary one, which is deleted with the file. */
  readonly workdir?: string
  /** Ends the reading, its processes included. */
  readonly signal?: AbortSignal
  /** Maximum bytes of the file; an archive may hold four times as much. Default: 1 GiB. */
  readonly maxBytes?: number
  /** Converts files that no reader here knows. Default: {@link wasmEngine}. */
  readonly engine?: Engine
  /** Starts the process that reads a data set; default: one without permissions. */
  readonly startReader?: StartReader
}

/** A file of features that is open. Its processes, and a temporary folder, end with it. */
export interface OpenedFile extends AsyncDisposable {
  /** Formats of the data sets, by the names of GDAL's drivers. */
  readonly formats: readonly string[]
  /** The layers that can be read; their numbers are the indexes in this list. */
  readonly layers: readonly LayerSchema[]
  /** All layers of the file, requested or not. */
  readonly layerNames: readonly string[]
  /** Paths of the unpacked files. */
  readonly files: readonly string[]
  /** Bytes of the unpacked files. */
  readonly bytes: number
  /** Warnings about the choice of data sets; a caller may add its own. */
  readonly notes: Warnings
  /** Warnings at the end of the layer that was read last. */
  readonly warnings: readonly Warning[]
  /** The rows of layers, one layer after the other, by their numbers; of all layers when absent. */
  read(layers?: readonly number[]): AsyncIterable<{ readonly layer: number; readonly batch: FeatureBatch }>
  /** The rows of layers as an encoder in the reading process makes them. */
  encode(plans: readonly LayerPlan[]): AsyncIterable<EncodedRows>
  /** Number of features of a layer that the engine could not convert; they are counted as a warning. */
  lostOf(layer: number, limit: number, warnings: Warnings): number
}

/**
 * Opens a file of features: unpacks it, detects its format by its content, and reads it in a process without
 * permissions.
 *
 * @throws FILE_TOO_LARGE, FORMAT_UNKNOWN, ZIP_REFUSED, LAYER_UNKNOWN, CONVERSION_FAILED, FILE_TOO_COSTLY, ENCODING_UNKNOWN,
 * CSV_COLUMNS_UNKNOWN, ENGINE_UNAVAILABLE
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { writeFile } from 'node:fs/promises'
 * import { openFile } from '@terrane/files'
 *
 * await using file = await openFile((path) => writeFile(path, 'name,lon,lat\nUlm,9.99,48.4\n'))
 * for await (const { batch } of file.read()) assert.deepEqual(batch.columns[0], ['Ulm'])
 * ```
 */
export async function openFile(source: ByteSource, options: OpenOptions = {}): Promise<OpenedFile> {
  const { workdir } = options
  if (workdir !== undefined) return open(source, options, workdir, () => Promise.resolve())
  const temporary = await mkdtemp(join(tmpdir(), 'terrane-files-'))
  const remove = () => rm(temporary, { recursive: true, force: true })
  try {
    return await open(source, options, temporary, remove)
  } catch (error) {
    await remove()
    throw error
  }
}

async function open(
  source: ByteSource,
  options: OpenOptions,
  workdir: string,
  onClose: () => Promise<void>,
): Promise<OpenedFile> {
  const { signal = new AbortController().signal, maxBytes = MAX_BYTES } = options
  const { engine = wasmEngine, startReader = startReaderProcess } = options
  await using spare = new SpareReader(startReader(workdir, signal))
  const path = join(workdir, 'source')
  await (typeof source === 'string' ? copyFile(source, path, constants.COPYFILE_FICLONE) : source(path))
  const { size } = await stat(path)
  if (size > maxBytes) throw fileTooLarge({ bytes: size, limit: maxBytes })
  const folder = join(workdir, 'data')
  const { datasets, skipped } = await unpackFile(path, folder, maxBytes, signal)
  const notes = new Warnings()
  warnOfSkipped(skipped, notes)
  const { files, bytes } = await filesIn(folder)
  const opened = await openDatasets(datasets, engine, options, { workdir, signal, startReader, spare })
  const { reading } = opened
  // Some of the layers of a format may be empty by nature: a GPX has five.
  const names = reading.layers.map(({ name }) => name)
  if (reading.layers.every(({ rows }) => rows === 0))
    notes.add('LAYERS_EMPTY', 'No layer of the file has rows.', names.length, names)
  return {
    formats: [...new Set(datasets.map(({ driver }) => driver))],
    layers: reading.layers,
    layerNames: opened.layerNames,
    files,
    bytes,
    notes,
    get warnings() {
      return [...notes.list(), ...opened.notes, ...reading.warnings]
    },
    read: (layers = [...reading.layers.keys()]) => reading.read(layers),
    encode: (plans) => reading.encode(plans),
    lostOf: (layer, limit, warnings) => opened.lostOf(layer, limit, warnings),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await onClose()
    },
  }
}

/** Files of a folder and its subfolders, sorted, and their total size. */
async function filesIn(folder: string): Promise<{ readonly files: readonly string[]; readonly bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  let bytes = 0
  for (const path of files) bytes += (await stat(path)).size
  return { files: files.toSorted(), bytes }
}
