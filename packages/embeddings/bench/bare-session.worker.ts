// The runtime alone (one session over tensors in memory) or the reader alone, repeated as often as requested.
import { parentPort, workerData } from 'node:worker_threads'

import { InferenceSession, Tensor } from 'onnxruntime-node'

import { openTileReader } from '../src/engine/geotiff-reader.ts'
import type { BareTask } from './bare-session.ts'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only bare-session.ts starts this worker
const { graph, input, output, threads, reader, side } = workerData as BareTask
const options: InferenceSession.SessionOptions = {
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
}
const session = await (typeof graph === 'string'
  ? InferenceSession.create(graph, options)
  : InferenceSession.create(graph, options))
// Several different tiles, so that the caches behave as in a run.
const source = openTileReader(reader)
const tensors: Tensor[] = []
for (let i = 0; i < 8; i++) {
  const pixels = new Float32Array(3 * side * side)
  await source.read(i, pixels)
  tensors.push(new Tensor('float32', pixels, [1, 3, side, side]))
}
const infer = async (i: number): Promise<Float32Array> => {
  const result = await session.run({ [input]: tensors[i % tensors.length]! }, [output])
  const data = result[output]?.data
  if (!(data instanceof Float32Array)) throw new Error('no output')
  return data
}
const first = await infer(0)
const scratch = new Float32Array(3 * side * side)
parentPort?.postMessage({ first }, [])
parentPort?.on('message', (task: { kind: 'infer' | 'decode'; from: number; count: number }) => void perform(task))

async function perform({
  kind,
  from,
  count,
}: {
  kind: 'infer' | 'decode'
  from: number
  count: number
}): Promise<void> {
  for (let i = from; i < from + count; i++) await (kind === 'infer' ? infer(i) : source.read(i, scratch))
  parentPort?.postMessage('done', [])
}
