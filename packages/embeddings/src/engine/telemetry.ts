import { isMainThread } from 'node:worker_threads'

import { telemetryOn } from '../errors.ts'

const VARIABLE = 'ORT_DISABLE_TELEMETRY'

/**
 * Turns off the telemetry of the ONNX runtime. Since 1.29 its Linux and macOS builds report sessions (model and graph
 * names, hashes, machine) to its maker unless `ORT_DISABLE_TELEMETRY` is set in the environment of the process before
 * the library is loaded (microsoft/onnxruntime pull request 27379). A variable that is already set, even to `0`, is the
 * operator's choice and stays.
 *
 * Only a main thread can set a variable that native code sees; a worker thread has a copy.
 *
 * @throws TELEMETRY_ON in a worker thread of a process without the variable
 */
export function keepTelemetryOff(): void {
  // oxlint-disable-next-line node/no-process-env -- the only place that the runtime reads
  const environment = process.env
  if (environment[VARIABLE] !== undefined) return
  if (!isMainThread) throw telemetryOn({ variable: VARIABLE })
  environment[VARIABLE] = '1'
}
