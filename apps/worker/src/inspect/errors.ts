import { defineError } from '@terrane/core'

export const inspectTooSlow = defineError(
  'INSPECT_TIMED_OUT',
  'timeout',
  (f: { seconds: number }) => `The file was not read within ${f.seconds} seconds`,
  () => ({ hint: 'Import it: a job has a longer time limit.' }),
)

export const inspectBusy = defineError(
  'INSPECT_BUSY',
  'rate_limited',
  (f: { limit: number; of: string }) =>
    `${f.limit} files are being inspected, which is the maximum of this worker${f.of}`,
  () => ({ hint: 'Try again in a few seconds, or import the file.' }),
)
