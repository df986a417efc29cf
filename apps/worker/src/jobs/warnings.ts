import type { JobWarning } from '@terrane/contracts'
import { defineError } from '@terrane/core'

const warningsRefused = defineError(
  'WARNINGS_REFUSED',
  'invalid',
  (f: { warnings: readonly JobWarning[] }) =>
    `The request is strict, and the result would have come with ${f.warnings.length === 1 ? 'a warning' : `${f.warnings.length} warnings`}: ${f.warnings.map(({ message }) => message).join(' ')}`,
  (f) => ({
    hint: 'Leave strict out to take the result as it is; nothing was changed.',
    details: JSON.stringify(f.warnings),
  }),
)

/** The warnings of a result that is ready. @throws WARNINGS_REFUSED where the request is strict and there are any */
export function acceptWarnings(strict: boolean | undefined, warnings: readonly JobWarning[]): JobWarning[] {
  if (strict === true && warnings.length > 0) throw warningsRefused({ warnings })
  return [...warnings]
}
