// The build process: reads frames from stdin and writes frames to stdout. It reads untrusted input, so it has limits,
// and the host ends it when it exceeds one. It also ends when the host has ended.
import { bundleFiles, bundleFolder, type Bundle, type BundleFailure } from '@terrane/bundler'
import { pack } from './archive.ts'
import { readFrames, encodeFrame } from './frame.ts'
import type { BuildAnswer, BuildJob } from './build-process.ts'

const MAX_JOB_BYTES = 64 * 1024 * 1024
const MAX_PROBLEMS = 20
const MAX_PROBLEM_CHARS = 1000

write({ ready: true }, new Uint8Array())
for await (const { header, payload } of readFrames(process.stdin, MAX_JOB_BYTES)) {
  try {
    const bundle = await run(header as BuildJob, payload)
    write({ inputs: bundle.inputs }, pack(bundle))
  } catch (error) {
    const problems = problemsOf(error)
    const { cause } = error as { cause?: BundleFailure }
    if (problems) write({ missing: [], fetchable: false, ...cause, problems }, new Uint8Array())
    else {
      write({ broken: (error as Error).message.slice(0, MAX_PROBLEM_CHARS) }, new Uint8Array())
      break
    }
  }
}
// The bundler's own child holds the process open.
process.exit(0)

function run(job: BuildJob, payload: Uint8Array): Promise<Bundle> {
  if (job.kind === 'folder') return bundleFolder(job.folder, job.fetched)
  const files = new Map<string, Uint8Array>()
  let at = 0
  for (const [path, size] of job.files) files.set(path, payload.subarray(at, (at += size)))
  return bundleFiles(files, '`terrane functions deploy` bundles packages first')
}

/** Problems of the function; null when the bundler itself failed. */
function problemsOf(error: unknown): string[] | null {
  const { code, message, details } = error as { code?: string; message: string; details?: string }
  if (code !== 'FUNCTION_BUNDLE_FAILED') return null
  const lines = details === undefined || details === '' ? [message] : details.split('\n')
  return lines.slice(0, MAX_PROBLEMS).map((line) => line.slice(0, MAX_PROBLEM_CHARS))
}

function write(header: BuildAnswer, payload: Uint8Array): void {
  process.stdout.write(encodeFrame({ header, payload }))
}
