import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv } from 'ajv'
import { expect, test } from 'vitest'

import { needs, sharedData } from '../../test/fixtures/shared-data.ts'
import { type StacItemRequest, stacItem } from './stac-item.ts'

const specs = sharedData('specs')

const request: StacItemRequest = {
  id: 'milan_2024',
  datetime: '2024-05-01T10:30:00.000Z',
  created: '2026-01-02T03:04:05.678Z',
  bbox: [9, 45, 9.2, 45.1],
  embeddings: { href: './milan_2024.parquet', bytes: 1234 },
  licence: { title: 'MIT', href: 'https://example.org/licence' },
  source: { title: 'Source imagery', href: 'https://example.org/milan.tif' },
  model: { title: 'A model', href: 'https://example.org/model.onnx' },
  parameters: { model: 'a-model', dimensions: 1024, bands: [2, 1, 0] },
  preprocessing: 'uint8 / 255',
  normalized: true,
}

test('an item says which model made the embeddings, from what, and how', () => {
  const item = stacItem(request)
  expect(item.properties).toMatchObject({
    datetime: request.datetime,
    license: 'MIT',
    'emb:runtime_parameters': request.parameters,
    'emb:preprocessing': { format: 'text', expression: 'uint8 / 255' },
    'emb:postprocessing': { format: 'text', expression: 'l2_normalize' },
  })
  expect(item.links).toEqual([
    { rel: 'emb:model', ...request.model },
    { rel: 'emb:source-data', ...request.source },
    { rel: 'license', ...request.licence },
  ])
  expect(item.geometry).toEqual({
    type: 'Polygon',
    coordinates: [
      [
        [9, 45],
        [9.2, 45],
        [9.2, 45.1],
        [9, 45.1],
        [9, 45],
      ],
    ],
  })
})

test('what is not known is left out', () => {
  const unknown = { title: 'A file', href: null }
  const item = stacItem({ ...request, source: unknown, licence: unknown, model: unknown, normalized: false })
  expect(item.links).toEqual([])
  expect(item.properties).not.toHaveProperty('emb:postprocessing')
})

test.skipIf(specs === null)(`the published schema of the embeddings extension accepts the item${needs(specs)}`, () => {
  const schema: unknown = JSON.parse(readFileSync(join(specs!, 'stac-embeddings/schema.json'), 'utf8'))
  if (typeof schema !== 'object' || schema === null) throw new Error('no schema')
  const ajv = new Ajv({ strict: false })
  // The schemas it refers to are not part of the data; what they require of an item is stated here.
  ajv.addSchema({
    $id: 'https://schemas.stacspec.org/v1.0.0/item-spec/json-schema/item.json',
    type: 'object',
    required: ['stac_version', 'id', 'type', 'geometry', 'bbox', 'properties', 'links', 'assets'],
    definitions: { link: { type: 'object', required: ['href', 'rel'] } },
  })
  ajv.addSchema({
    $id: 'https://schemas.stacspec.org/v1.0.0/collection-spec/json-schema/collection.json',
    type: 'object',
    required: ['extent'],
  })
  ajv.addSchema({
    $id: 'https://stac-extensions.github.io/processing/v1.2.0/schema.json',
    definitions: {
      fields: {
        properties: { 'processing:expression': { type: 'object', required: ['format', 'expression'] } },
      },
    },
  })
  const validate = ajv.compile(schema)
  validate(stacItem(request))
  expect(validate.errors).toBeNull()
  expect(validate({ ...stacItem(request), assets: {} })).toBe(false)
})
