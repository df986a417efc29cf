import { constants, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Conversion, Layer } from './engine.ts'

/** The part of the Emscripten module that is used. */
export interface GdalModule {
  ccall(name: string, result: string | null, types: readonly string[], values: readonly unknown[]): unknown
  _malloc(bytes: number): number
  setValue(pointer: number, value: number, type: string): void
  lengthBytesUTF8(text: string): number
  stringToUTF8(text: string, pointer: number, bytes: number): void
  readonly NODEFS: { readonly stream_ops: { read: ReadFile } }
  readonly FS: {
    mkdir(path: string): void
    /** Returns the node of the folder. */
    mount(type: unknown, options: { root: string }, path: string): { mode: number }
    unmount(path: string): void
  }
}

/** A file that is open: `nfd` is the descriptor, `flags` are those of POSIX `open`. */
interface OpenFile {
  readonly nfd: number
  readonly flags: number
}

/** Reads from a position into the memory of the module and returns how many bytes it got. */
type ReadFile = (file: OpenFile, memory: Int8Array, offset: number, length: number, position: number) => number

/** Path within the folder of its WebAssembly. */
const PROGRAM = '../../build/package/gdal3WebAssembly.js'
const OPEN_VECTOR = 0x04
const OPEN_VERBOSE = 0x40
const INPUT = '/input'
const OUTPUT = '/output'
const READ_BYTES = 1 << 16
const ACCESS_MODE = 3
const WRITABLE = 0o222

/** The folder of gdal3.js with its WebAssembly. */
export function gdalFolder(): string {
  const require = createRequire(import.meta.url)
  return dirname(require.resolve('gdal3.js'))
}

/**
 * Loads GDAL in WebAssembly.
 *
 * @param folder result of {@link gdalFolder}
 * @param onMessage called with its warnings and errors
 */
export async function loadGdal(folder: string, onMessage: (text: string) => void): Promise<GdalModule> {
  const load = createRequire(import.meta.url)
  const start = load(join(folder, PROGRAM)) as (options: object) => Promise<GdalModule>
  const settings = {
    PROJ_LIB: '/usr/share/proj',
    GDAL_DATA: '/usr/share/gdal',
    GDAL_NUM_THREADS: '0',
    CPL_LOG_ERRORS: 'ON',
    // By default GDAL reports a thousand errors at most, but the last one has the reason.
    CPL_MAX_ERROR_REPORTS: '1000000000',
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
    GML_SKIP_RESOLVE_ELEMS: 'ALL',
    // An unreadable feature, such as a solid with faces in another file, does not end the layer.
    GML_SKIP_CORRUPTED_FEATURES: 'YES',
    // Without a schema GDAL would read codes with leading zeros as numbers, and truncate large ones.
    GML_FIELDTYPES: 'ALWAYS_STRING',
    // With its columnar API GDAL 3.8 puts geometries of a FlatGeobuf into wrong rows after a null.
    OGR2OGR_USE_ARROW_API: 'NO',
  }
  const loaded = await start({
    print: () => {},
    printErr: onMessage,
    preRun: [({ ENV }: { ENV: object }) => Object.assign(ENV, settings)],
    locateFile: (name: string) => `${folder}/${name}`,
    getPreloadedPackage: (name: string) => new Uint8Array(readFileSync(name)).buffer,
  })
  loaded.ccall('GDALAllRegister', null, [], [])
  loaded.FS.mkdir(INPUT)
  loaded.FS.mkdir(OUTPUT)
  loaded.NODEFS.stream_ops.read = readAhead(loaded.NODEFS.stream_ops.read)
  return loaded
}

/** A failure of GDAL, with its own message. */
export class GdalError extends Error {}

/**
 * Converts layers of a data set. Afterwards the module can be used again.
 *
 * @param onLayers called with the layers of the data set before the conversion, which is skipped when the requested one
 * is missing
 * @throws GdalError
 */
export function convertLayers(gdal: GdalModule, conversion: Conversion, onLayers: (layers: Layer[]) => void): void {
  const { folder, file, target } = conversion
  const input = gdal.FS.mount(gdal.NODEFS, { root: folder }, INPUT)
  // Read-only, because drivers would write auxiliary files beside the data and read them the next time.
  input.mode &= ~WRITABLE
  gdal.FS.mount(gdal.NODEFS, { root: dirname(target) }, OUTPUT)
  try {
    const path = file === '.' ? INPUT : `${INPUT}/${file}`
    const [drivers, openOptions] = [strings(gdal, [conversion.driver]), strings(gdal, conversion.openOptions)]
    const dataset = call(gdal, 'GDALOpenEx', [path, OPEN_VECTOR | OPEN_VERBOSE, drivers, openOptions, 0])
    if (dataset === 0) throw failure(gdal, 'the file cannot be opened')
    try {
      const layers = layersOf(gdal, dataset)
      onLayers(layers)
      const { layer } = conversion
      if (layers.length === 0 || (layer !== null && !layers.some(({ name }) => name === layer))) return
      translate(gdal, dataset, conversion)
    } finally {
      call(gdal, 'GDALClose', [dataset])
    }
  } finally {
    for (const path of [INPUT, OUTPUT]) gdal.FS.unmount(path)
  }
}

function layersOf(gdal: GdalModule, dataset: number): Layer[] {
  return Array.from({ length: call(gdal, 'GDALDatasetGetLayerCount', [dataset]) }, (_, i) => {
    const handle = call(gdal, 'GDALDatasetGetLayer', [dataset, i])
    const features = call(gdal, 'OGR_L_GetFeatureCount', [handle, 1])
    return {
      name: String(gdal.ccall('OGR_L_GetName', 'string', ['number'], [handle])),
      features: features < 0 ? null : features,
    }
  })
}

function translate(gdal: GdalModule, dataset: number, { layer, options, target }: Conversion): void {
  const texts = strings(gdal, [...options, ...(layer === null ? [] : [layer])])
  const parsed = call(gdal, 'GDALVectorTranslateOptionsNew', [texts, 0])
  if (parsed === 0) throw failure(gdal, 'an option is not accepted')
  const list = gdal._malloc(4)
  gdal.setValue(list, dataset, '*')
  call(gdal, 'CPLErrorReset', [])
  const result = call(gdal, 'GDALVectorTranslate', [`${OUTPUT}/${basename(target)}`, 0, 1, list, parsed, 0])
  if (result === 0) throw failure(gdal, 'the layer cannot be converted')
  call(gdal, 'GDALClose', [result])
}

function failure(gdal: GdalModule, what: string): GdalError {
  return new GdalError(String(gdal.ccall('CPLGetLastErrorMsg', 'string', [], [])) || what)
}

function call(gdal: GdalModule, name: string, values: readonly (number | string)[]): number {
  return Number(
    gdal.ccall(
      name,
      'number',
      values.map((value) => typeof value),
      values,
    ),
  )
}

/** A null-terminated array of C strings. */
function strings(gdal: GdalModule, texts: readonly string[]): number {
  const array = gdal._malloc(4 * (texts.length + 1))
  for (const [i, text] of texts.entries()) {
    const bytes = gdal.lengthBytesUTF8(text) + 1
    const pointer = gdal._malloc(bytes)
    gdal.stringToUTF8(text, pointer, bytes)
    gdal.setValue(array + 4 * i, pointer, '*')
  }
  gdal.setValue(array + 4 * texts.length, 0, '*')
  return array
}

/**
 * Serves the small reads of the C library, a kilobyte each, from larger ones. Only for read-only files, i.e. the
 * unchanging input: SQLite also reads the parts of the result that it has written.
 */
function readAhead(read: ReadFile): ReadFile {
  const blocks = new WeakMap<OpenFile, { readonly bytes: Int8Array; start: number; end: number }>()
  return (file, memory, offset, length, position) => {
    if (length >= READ_BYTES || (file.flags & ACCESS_MODE) !== constants.O_RDONLY)
      return read(file, memory, offset, length, position)
    let block = blocks.get(file)
    if (!block) {
      block = { bytes: new Int8Array(READ_BYTES), start: 0, end: 0 }
      blocks.set(file, block)
    }
    if (position < block.start || position + length > block.end) {
      block.start = position
      block.end = position + readSync(file.nfd, block.bytes, 0, READ_BYTES, position)
    }
    const from = position - block.start
    const found = Math.min(length, block.end - position)
    memory.set(block.bytes.subarray(from, from + found), offset)
    return found
  }
}
