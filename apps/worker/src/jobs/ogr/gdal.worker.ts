// A process of its own: GDAL in WebAssembly converts layers into a GeoPackage. It sees the folder of the data and that of
// the result, has no network, and can be killed at any moment. A report goes to file descriptor 3, as a line of JSON.
import { constants, readFileSync, readSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import type { Conversion } from './engine.ts'

/** What is used of the Emscripten module. */
interface GdalModule {
  ccall(name: string, result: string | null, types: readonly string[], values: readonly unknown[]): unknown
  _malloc(bytes: number): number
  setValue(pointer: number, value: number, type: string): void
  lengthBytesUTF8(text: string): number
  stringToUTF8(text: string, pointer: number, bytes: number): void
  readonly NODEFS: { readonly stream_ops: { read: ReadFile } }
  readonly FS: {
    mkdir(path: string): void
    mount(type: unknown, options: { root: string }, path: string): void
  }
}

/** A file that is open: `nfd` is the descriptor, `flags` are those of POSIX `open`. */
interface OpenFile {
  readonly nfd: number
  readonly flags: number
}

/** Reads from a position into the memory of the module and returns how many bytes it got. */
type ReadFile = (file: OpenFile, memory: Int8Array, offset: number, length: number, position: number) => number

const OPEN_VECTOR = 0x04
const OPEN_VERBOSE = 0x40
const INPUT = '/input'
const OUTPUT = '/output'
const READ_BYTES = 1 << 16
const ACCESS_MODE = 3
const REPORTS = 3
const RETRY_MS = 1

const gdal = await load()
// The request comes when its file is there; loading takes longer than most files.
const conversion = JSON.parse(readFileSync(0, 'utf8')) as Conversion
gdal.NODEFS.stream_ops.read = readAhead(gdal.NODEFS.stream_ops.read)
gdal.FS.mount(gdal.NODEFS, { root: conversion.folder }, INPUT)
gdal.FS.mount(gdal.NODEFS, { root: dirname(conversion.target) }, OUTPUT)
convert(conversion)

function convert({ file, driver, openOptions, layer, options, target }: Conversion): void {
  const path = file === '.' ? INPUT : `${INPUT}/${file}`
  const flags = OPEN_VECTOR | OPEN_VERBOSE
  const dataset = call('GDALOpenEx', [path, flags, strings([driver]), strings(openOptions), 0])
  if (dataset === 0) fail('the file cannot be opened')
  const layers = Array.from({ length: call('GDALDatasetGetLayerCount', [dataset]) }, (_, i) => {
    const handle = call('GDALDatasetGetLayer', [dataset, i])
    const features = call('OGR_L_GetFeatureCount', [handle, 1])
    return {
      name: String(gdal.ccall('OGR_L_GetName', 'string', ['number'], [handle])),
      features: features < 0 ? null : features,
    }
  })
  report({ layers })
  if (layers.length === 0 || (layer !== null && !layers.some(({ name }) => name === layer))) process.exit(0)
  const translate = call('GDALVectorTranslateOptionsNew', [
    strings([...options, ...(layer === null ? [] : [layer])]),
    0,
  ])
  if (translate === 0) fail('an option is not accepted')
  const list = gdal._malloc(4)
  gdal.setValue(list, dataset, '*')
  call('CPLErrorReset', [])
  const result = call('GDALVectorTranslate', [`${OUTPUT}/${basename(target)}`, 0, 1, list, translate, 0])
  if (result === 0) fail('the layer cannot be converted')
  call('GDALClose', [result])
  process.exit(0)
}

function fail(what: string): never {
  const message = String(gdal.ccall('CPLGetLastErrorMsg', 'string', [], []))
  writeSync(2, `${message || what}\n`)
  process.exit(1)
}

async function load(): Promise<GdalModule> {
  // The module asks in an old way for constants; under the permission model that way is closed.
  Object.assign(process, { binding: () => ({ fs: constants }) })
  const require = createRequire(import.meta.url)
  const folder = dirname(require.resolve('gdal3.js'))
  const start = require('gdal3.js/build/package/gdal3WebAssembly.js') as (options: object) => Promise<GdalModule>
  const settings = {
    PROJ_LIB: '/usr/share/proj',
    GDAL_DATA: '/usr/share/gdal',
    GDAL_NUM_THREADS: '0',
    CPL_LOG_ERRORS: 'ON',
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
    GML_SKIP_RESOLVE_ELEMS: 'ALL',
    // One that cannot be read, such as a solid of faces that lie elsewhere, does not end the layer.
    GML_SKIP_CORRUPTED_FEATURES: 'YES',
    // Without a schema it would take codes with leading zeros for numbers, and cut large ones.
    GML_FIELDTYPES: 'ALWAYS_STRING',
    // By columns GDAL 3.8 puts geometries of a FlatGeobuf into wrong rows once one is null.
    OGR2OGR_USE_ARROW_API: 'NO',
  }
  const loaded = await start({
    print: () => {},
    printErr: (text: string) => writeSync(2, `${text}\n`),
    preRun: [({ ENV }: { ENV: object }) => Object.assign(ENV, settings)],
    locateFile: (name: string) => `${folder}/${name}`,
    getPreloadedPackage: (name: string) => new Uint8Array(readFileSync(name)).buffer,
  })
  loaded.ccall('GDALAllRegister', null, [], [])
  loaded.FS.mkdir(INPUT)
  loaded.FS.mkdir(OUTPUT)
  return loaded
}

function call(name: string, values: readonly (number | string)[]): number {
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
function strings(texts: readonly string[]): number {
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
 * Serves the small reads of the C library, a kilobyte each, from larger ones. Only of files that are open to read alone:
 * those of the input, which nobody changes. SQLite reads again what it has written into the result.
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

function report(value: object): void {
  writeAll(REPORTS, Buffer.from(`${JSON.stringify(value)}\n`))
}

/** Writes to a pipe whose reader may be slower. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(descriptor, bytes, done)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}
