import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { boundChild } from './bound-child.ts'
import {
  EngineProcess,
  checkLayer,
  failure,
  plainComplaint,
  type Conversion,
  type Engine,
  type Layer,
} from './engine.ts'
import { watchEngine } from './engine-watch.ts'
import { engineUnavailable } from './errors.ts'

const run = promisify(execFile)
const LIST_BYTES = 1 << 20
const NAME = 'Layer name: '
const COUNT = 'Feature Count: '

/**
 * An installed `ogr2ogr`, when the operator names one. OGR_SKIP, which all versions support, disables all drivers
 * except the one for the detected content: GDAL chooses a driver by content, and some formats only point to other
 * files.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { tmpdir } from 'node:os'
 * import { nativeEngine } from '@terrane/files'
 *
 * const conversion = { folder: tmpdir(), file: 'a.dxf', driver: 'DXF', openOptions: [], layer: null, options: [] } as const
 * const engine = nativeEngine('/opt/gdal/bin/ogr2ogr')
 * const result = engine.convert({ ...conversion, target: 'a.gpkg' }, tmpdir(), AbortSignal.timeout(10_000))
 * await assert.rejects(result, { code: 'ENGINE_UNAVAILABLE' })
 * ```
 */
export function nativeEngine(program: string): Engine {
  let drivers: Promise<string[]> | null = null
  return {
    async convert(conversion, _workdir, signal) {
      drivers ??= listDrivers(program)
      const env = environment(await drivers, conversion)
      const layers = await listLayers(program, conversion, env, signal)
      checkLayer(layers, conversion.layer)
      const openOptions = conversion.openOptions.flatMap((option) => ['-oo', option])
      const chosen = conversion.layer === null ? [] : [conversion.layer]
      const args = [...conversion.options, ...openOptions, conversion.target, conversion.file, ...chosen]
      const running = new EngineProcess(
        ...boundChild(program, args),
        { cwd: conversion.folder, env, events: false },
        signal,
      )
      try {
        await watchEngine(running, conversion)
        await running.ended
      } finally {
        running.kill()
      }
      return layers
    },
  }
}

function environment(drivers: readonly string[], { driver, folder }: Conversion): Record<string, string> {
  const skipped = drivers.filter((name) => name !== driver && name !== 'GPKG').join(',')
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C.UTF-8',
    OGR_SKIP: skipped,
    GDAL_SKIP: skipped,
    // By default GDAL reports a thousand errors at most, but the last one has the reason.
    CPL_MAX_ERROR_REPORTS: '1000000000',
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
    CPL_TMPDIR: folder,
    // Blocks all requests: no file may be fetched, and the proxy is a closed port.
    CPL_VSIL_CURL_ALLOWED_FILENAME: '/none',
    GDAL_HTTP_PROXY: '127.0.0.1:9',
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
    GML_SKIP_RESOLVE_ELEMS: 'ALL',
    // An unreadable feature, such as a solid with faces in another file, does not end the layer.
    GML_SKIP_CORRUPTED_FEATURES: 'YES',
    // Without a schema GDAL would read codes with leading zeros as numbers, and truncate large ones.
    GML_FIELDTYPES: 'ALWAYS_STRING',
    // With its columnar API GDAL 3.8 puts geometries of a FlatGeobuf into wrong rows after a null.
    OGR2OGR_USE_ARROW_API: 'NO',
    GML_DOWNLOAD_SCHEMA: 'NO',
    GML_DOWNLOAD_WFS_SCHEMA: 'NO',
  }
}

/** Short names of all drivers, as `--formats` lists them. */
async function listDrivers(program: string): Promise<string[]> {
  try {
    const { stdout } = await run(program, ['--formats'], { maxBuffer: LIST_BYTES })
    return [...stdout.matchAll(/^ {2}(\S.*?) -[a-z, ]+- \(/gm)].map(([, name]) => name!.trim())
  } catch (cause) {
    throw engineUnavailable({ reason: (cause as Error).message }, { cause })
  }
}

async function listLayers(
  program: string,
  conversion: Conversion,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Layer[]> {
  const openOptions = conversion.openOptions.flatMap((option) => ['-oo', option])
  const args = ['-ro', '-so', '-al', ...openOptions, conversion.file]
  try {
    const info = join(dirname(program), 'ogrinfo')
    const { stdout } = await run(info, args, { cwd: conversion.folder, env, maxBuffer: LIST_BYTES, signal })
    return layersIn(stdout)
  } catch (cause) {
    signal.throwIfAborted()
    // The message of the cause has the command line.
    throw failure(plainComplaint((cause as { stderr?: string }).stderr ?? ''))
  }
}

/** The layers that `ogrinfo` describes, each by some lines. */
function layersIn(description: string): Layer[] {
  const layers: Layer[] = []
  let name: string | null = null
  for (const line of description.split('\n')) {
    if (line.startsWith(NAME)) name = line.slice(NAME.length)
    if (!line.startsWith(COUNT) || name === null) continue
    const features = Number(line.slice(COUNT.length))
    layers.push({ name, features: features < 0 ? null : features })
    name = null
  }
  return layers
}
