import { defineError } from '@terrane/core'

export const noTypes = defineError(
  'NO_TYPES',
  'invalid',
  () => 'The request names neither topics nor types',
  () => ({ errors: [{ path: '/topics', message: 'topics or types is needed' }] }),
)
