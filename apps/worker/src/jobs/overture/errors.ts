import { defineError } from '@terrane/core'

export const noTypes = defineError(
  'NO_TYPES',
  'invalid',
  () => 'Nothing is asked for: name topics or types',
  () => ({ errors: [{ path: '/topics', message: 'topics or types is needed' }] }),
)
