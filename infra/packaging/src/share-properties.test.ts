import { expect, test } from 'vitest'
import { shareProperties } from './share-properties.ts'

const long = { type: 'string', description: 'x'.repeat(700) } as const
const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })

function sharedIn(schemas: Readonly<Record<string, object>>): object {
  const document = shareProperties({ components: { schemas } } as never) as { components: { schemas: object } }
  return document.components.schemas
}

test('properties that schemas share become a schema which they extend, named by the words in common', () => {
  expect(
    sharedIn({
      ImportJob: object({ id: long, kind: long, rows: { type: 'number' } }, ['id', 'rows']),
      ExportJob: object({ id: long, kind: long, bytes: { type: 'number' } }, ['id', 'bytes']),
    }),
  ).toEqual({
    ImportJob: { allOf: [{ $ref: '#/components/schemas/JobBase' }, object({ rows: { type: 'number' } }, ['rows'])] },
    ExportJob: { allOf: [{ $ref: '#/components/schemas/JobBase' }, object({ bytes: { type: 'number' } }, ['bytes'])] },
    JobBase: object({ id: long, kind: long }, ['id']),
  })
})

test('a schema that another one extends is what they share, and without a common word the first property gives the name', () => {
  expect(
    sharedIn({ Hook: object({ id: long, url: long }), Made: object({ id: long, url: long, secret: long }) }),
  ).toEqual({
    Hook: { allOf: [{ $ref: '#/components/schemas/IdBase' }] },
    Made: { allOf: [{ $ref: '#/components/schemas/IdBase' }, object({ secret: long })] },
    IdBase: object({ id: long, url: long }),
  })
})

test('a property is not shared where one schema requires it and the other does not', () => {
  const schemas = { A: object({ id: long, kind: long }, ['id']), B: object({ id: long, kind: long }, ['kind']) }
  expect(sharedIn(schemas)).toEqual(schemas)
})
