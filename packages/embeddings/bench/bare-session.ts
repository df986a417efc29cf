import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import type { GeoTiffReaderOptions } from '../src/engine/geotiff-reader.ts'
import { keepTelemetryOff } from '../src/engine/telemetry.ts'
import type { Model } from '../src/index.ts'

export interface BareTask {
  readonly graph: Uint8Array | string
  readonly input: string
  readonly output: string
  readonly threads: number
  readonly reader: GeoTiffReaderOptions
  readonly side: number
}

/** Worker threads with only the runtime and the reader. */
export class BareSessions implements AsyncDisposable {
  readonly #workers: readonly Worker[]
  /** The model's output for tile 0. */
  readonly first: Float32Array

  private constructor(workers: readonly Worker[], first: Float32Array) {
    this.#workers = workers
    this.first = first
  }

  /** `sessions` threads, each with a model that uses `threads` cores. */
  static async open(
    model: Model,
    reader: GeoTiffReaderOptions,
    sessions: number,
    threads: number,
  ): Promise<BareSessions> {
    keepTelemetryOff()
    const { manifest, graph } = model
    const task: BareTask = {
      graph,
      input: manifest.input.name,
      output: manifest.outputs[0]!.name,
      threads,
      reader,
      side: reader.plan.tileSize,
    }
    const workers = Array.from(
      { length: sessions },
      () => new Worker(new URL('./bare-session.worker.ts', import.meta.url), { workerData: task }),
    )
    const messages = await Promise.all(workers.map((worker) => once(worker, 'message')))
    const [{ first }] = messages[0] as [{ first: Float32Array }]
    return new BareSessions(workers, first)
  }

  /** Tiles per second of all threads together, each with its share of `count`. */
  async measure(kind: 'infer' | 'decode', count: number): Promise<number> {
    const share = Math.floor(count / this.#workers.length)
    const started = performance.now()
    await Promise.all(
      this.#workers.map(async (worker, i) => {
        worker.postMessage({ kind, from: i * share, count: share }, [])
        await once(worker, 'message')
      }),
    )
    return (share * this.#workers.length * 1000) / (performance.now() - started)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}
