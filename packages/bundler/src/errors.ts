import { defineError } from '@terrane/core'

/** Code, files or settings of a function that cannot be bundled; `details` has each problem on a line. */
export const bundleFailed = defineError(
  'FUNCTION_BUNDLE_FAILED',
  'invalid',
  (f: { problems: readonly string[] }) => `The function cannot be bundled: ${f.problems[0] ?? 'unknown'}`,
  (f) => ({ details: f.problems.slice(0, 20).join('\n') }),
)
