import { defineError } from '@terrane/core/errors'

export const mapInvalid = defineError(
  'MAP_INVALID',
  'invalid',
  (f: { field: string; wanted: string }) => `The map cannot be read: ${f.field} is not ${f.wanted}`,
  () => ({ hint: 'Open a style that was saved by Terrane, or start a new map.' }),
)

export const classesInvalid = defineError(
  'CLASSES_INVALID',
  'invalid',
  (f: { reason: string }) => `These numbers cannot be classified by this method: ${f.reason}`,
  () => ({ hint: 'Choose another method.' }),
)
