import { expect, test } from 'vitest'
import { shareSchemas } from './share-schemas.ts'

const text = { type: 'string', description: 'x'.repeat(200) } as const
const target = { type: 'object', properties: { ref: text } } as const
const problem = {
  description: 'What went wrong.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

/** A document with one operation that takes each schema. */
function documentOf(schemas: Readonly<Record<string, object>>) {
  const paths = Object.entries(schemas).map(([name, schema]) => [
    `/${name}`,
    { post: { requestBody: { content: { 'application/json': { schema } } }, responses: { '4XX': problem } } },
  ])
  const document = { components: { schemas: { Problem: target } }, paths: Object.fromEntries(paths) as object }
  const { components, paths: shared } = shareSchemas(document as never) as unknown as {
    components: Record<string, Record<string, object>>
    paths: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> }; responses: object } }>
  }
  return {
    components,
    schemaOf: (name: string) => shared[`/${name}`]!.post.requestBody.content['application/json']!.schema,
    responsesOf: (name: string) => shared[`/${name}`]!.post.responses,
  }
}

const list = { type: 'object', properties: { names: { type: 'array', items: { ...target, required: ['ref'] } } } }

test('a schema that occurs again is named after its title, and its places keep their descriptions', () => {
  const { components, schemaOf } = documentOf({
    job: { ...list, title: 'Import' },
    schedule: { ...list, title: 'Import', description: 'The request.' },
  })
  expect(schemaOf('job')).toEqual({ $ref: '#/components/schemas/Import' })
  expect(schemaOf('schedule')).toEqual({ $ref: '#/components/schemas/Import', description: 'The request.' })
  expect(components['schemas']).toEqual({ Problem: target, Import: { ...list, title: 'Import' } })
})

test('without a title the name is the property, and items are one of their list', () => {
  const items = list.properties.names
  const { components, schemaOf } = documentOf({
    a: { type: 'object', properties: { names: items } },
    b: { type: 'object', properties: { names: items, more: text } },
  })
  expect(schemaOf('a')).toEqual({
    type: 'object',
    properties: { names: { type: 'array', items: { $ref: '#/components/schemas/Name' } } },
  })
  expect(components['schemas']!['Name']).toEqual(items.items)
})

test('a copy of a component refers to it, and a schema that occurs once or is a member of a union stays', () => {
  const member = { type: 'object', properties: { other: text } }
  const union = { anyOf: [member, { type: 'null' }] }
  const { components, schemaOf } = documentOf({ copy: target, once: union, again: { ...union, maxProperties: 1 } })
  expect(schemaOf('copy')).toEqual({ $ref: '#/components/schemas/Problem' })
  expect(schemaOf('once')).toEqual(union)
  expect(Object.keys(components['schemas']!)).toEqual(['Problem'])
})

test('answers of errors refer to one response', () => {
  const { components, responsesOf } = documentOf({ a: text, b: text })
  expect(responsesOf('b')).toEqual({ '4XX': { $ref: '#/components/responses/Problem' } })
  expect(components['responses']).toEqual({ Problem: problem })
})
