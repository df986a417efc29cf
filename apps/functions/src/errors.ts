import { defineError, type FieldError } from '@terrane/core'

export const invalidPolicy = defineError(
  'FUNCTION_POLICY_INVALID',
  'invalid',
  (f: { errors: readonly FieldError[] }) =>
    `function.json is not acceptable: ${f.errors.map((e) => `${e.path.slice(1) || 'the whole'} ${e.message}`).join('; ')}`,
  (f) => ({ errors: f.errors, hint: 'Unknown fields are refused; the README lists the known ones.' }),
)

export const bundleFailed = defineError(
  'FUNCTION_BUNDLE_FAILED',
  'invalid',
  (f: { problems: readonly string[] }) => `The function cannot be bundled: ${f.problems[0] ?? 'unknown'}`,
  (f) => ({ details: f.problems.slice(0, 20).join('\n') }),
)

export const archiveInvalid = defineError(
  'FUNCTION_ARCHIVE_INVALID',
  'internal',
  (f: { reason: string }) => `A stored function version is damaged: ${f.reason}`,
)

export const runtimeUnavailable = defineError(
  'FUNCTION_RUNTIME_UNAVAILABLE',
  'unavailable',
  (f: { problem: string; remedy: string }) => `Functions cannot run here: ${f.problem}`,
  (f) => ({ hint: f.remedy }),
)
