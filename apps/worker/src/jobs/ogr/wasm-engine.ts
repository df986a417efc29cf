import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { EngineProcess, chooseLayer, type Engine, type Layer } from './engine.ts'

const SCRIPT = fileURLToPath(new URL('./gdal.worker.ts', import.meta.url))

/** Most memory of the script besides the WebAssembly's own, which ends at 4 GiB by itself. */
const HEAP_MB = 512

/** GDAL in WebAssembly: needs nothing installed, sees one folder, reaches no network. */
export const wasmEngine: Engine = {
  prepare(workdir, signal) {
    // It may read programs and data, writes to the folder of the job at most, and can start no processes.
    const fileAccess = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${workdir}/*`]
    const limits = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning']
    // Of 30 MB of WebAssembly few functions run: each is validated when it is compiled, at its first call.
    const args = [...fileAccess, ...limits, '--wasm-lazy-validation', SCRIPT]
    const engine = new EngineProcess(process.execPath, args, { cwd: workdir, env: {}, events: true }, signal)
    const stdin = engine.child.stdin!
    // A process that ended early says why itself.
    stdin.on('error', () => {})
    return {
      async start(conversion) {
        stdin.end(JSON.stringify(conversion))
        const layers = await readLayers(engine)
        const layer = chooseLayer(layers, conversion.layer)
        return { layers, layer, dump: engine.child.stdout!, done: engine.ended, complaint: () => engine.complaint }
      },
      async [Symbol.asyncDispose]() {
        engine.kill()
        await engine.ended.catch(() => {})
      },
    }
  },
}

async function readLayers(engine: EngineProcess): Promise<Layer[]> {
  const lines = createInterface({ input: engine.child.stdio[3] as Readable })
  const first = once(lines, 'line') as Promise<[string]>
  const line = await Promise.race([first, engine.ended.then(() => null)])
  if (line === null) throw new Error('the engine ended without a report')
  return (JSON.parse(line[0]) as { layers: Layer[] }).layers
}
