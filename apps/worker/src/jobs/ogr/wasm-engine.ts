import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { EngineProcess, chooseLayer, type Conversion, type Converting, type Engine, type Layer } from './engine.ts'

const SCRIPT = fileURLToPath(new URL('./gdal.worker.ts', import.meta.url))

/** Most memory of the script besides the WebAssembly's own, which ends at 4 GiB by itself. */
const HEAP_MB = 512

/** GDAL in WebAssembly: needs nothing installed, sees one folder, reaches no network. */
export const wasmEngine: Engine = {
  async start(conversion: Conversion, signal: AbortSignal): Promise<Converting> {
    // It may read programs and data, writes to the folder of the data at most, and can start no processes.
    const fileAccess = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${conversion.folder}/*`]
    const limits = [...fileAccess, `--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning']
    const args = [...limits, SCRIPT, JSON.stringify(conversion)]
    const engine = new EngineProcess(process.execPath, args, { cwd: conversion.folder, env: {}, events: true }, signal)
    const layers = await readLayers(engine)
    const layer = chooseLayer(layers, conversion.layer)
    return { layers, layer, dump: engine.child.stdout!, done: engine.ended, complaint: () => engine.complaint }
  },
}

async function readLayers(engine: EngineProcess): Promise<Layer[]> {
  const lines = createInterface({ input: engine.child.stdio[3] as Readable })
  const first = once(lines, 'line') as Promise<[string]>
  const line = await Promise.race([first, engine.ended.then(() => null)])
  if (line === null) throw new Error('the engine ended without a report')
  return (JSON.parse(line[0]) as { layers: Layer[] }).layers
}
