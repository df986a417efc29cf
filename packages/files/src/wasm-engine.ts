import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { boundChild } from './bound-child.ts'
import { EngineProcess, checkLayer, type Engine, type Layer } from './engine.ts'
import { watchEngine } from './engine-watch.ts'
import { gdalFolder } from './gdal-module.ts'
import { programPath } from './program-path.ts'

const PROGRAM = new URL('./gdal.worker.ts', import.meta.url)

/** Maximum heap of the script in MiB, besides the memory of WebAssembly, which is limited to 2 GiB. */
const HEAP_MB = 512

/**
 * GDAL in WebAssembly: needs nothing installed, sees two folders, reaches no network.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { writeFile } from 'node:fs/promises'
 * import { openFile, wasmEngine } from '@terrane/files'
 *
 * const town = { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] }
 * const topology = { type: 'Topology', arcs: [], objects: { town } }
 * const source = (path: string) => writeFile(path, JSON.stringify(topology))
 * await using file = await openFile(source, { engine: wasmEngine })
 * assert.deepEqual(file.layerNames, ['town'])
 * ```
 */
export const wasmEngine: Engine = {
  async convert(conversion, workdir, signal) {
    // It may read programs and data, may write only to the folder of its result, and cannot start processes.
    const rights = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${dirname(conversion.target)}/*`]
    const limits = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning']
    // Of 30 MB of WebAssembly few functions run: each is validated when it is compiled, at its first call.
    const args = [...rights, ...limits, '--wasm-lazy-validation', programPath(PROGRAM, workdir), gdalFolder()]
    const engine = new EngineProcess(
      ...boundChild(process.execPath, args),
      { cwd: workdir, env: {}, events: true },
      signal,
    )
    // A process that ended early reports the reason itself.
    engine.child.stdin!.on('error', () => {})
    engine.child.stdin!.end(JSON.stringify(conversion))
    const ended = watchEngine(engine, conversion)
    ended.catch(() => {})
    const layers = await readLayers(engine)
    checkLayer(layers, conversion.layer)
    await ended
    return layers
  },
}

async function readLayers(engine: EngineProcess): Promise<Layer[]> {
  const lines = createInterface({ input: engine.child.stdio[3] as Readable })
  const first = once(lines, 'line') as Promise<[string]>
  const line = await Promise.race([first, engine.ended.then(() => null)])
  if (line === null) throw new Error('the engine ended without a report')
  return (JSON.parse(line[0]) as { layers: Layer[] }).layers
}
