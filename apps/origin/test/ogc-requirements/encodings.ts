import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'vitest'
import { SPOTS, ITEMS, GEOJSON, ask, bodyOf, typeOf, documentOf, type Case } from './requests.ts'

/** Features 1, encodings and OpenAPI. */
export const ENCODINGS: readonly Case[] = [
  [
    'html/definition',
    () =>
      Promise.all(
        ['/', '/conformance', '/collections', SPOTS, ITEMS, `${ITEMS}/1`].map((path) =>
          typeOf(path, { headers: { accept: 'text/html' } }),
        ),
      ),
    Array(6).fill('text/html; charset=utf-8'),
  ],
  [
    'html/content',
    async () =>
      /Spot 1[\s\S]*<a href="[^"]*\/items\/1/.test(await (await ask(`${ITEMS}?f=html`)).text()) ||
      (await (await ask(`${ITEMS}?f=html`)).text()).includes('Spot 1'),
    true,
  ],
  [
    'geojson/definition',
    () => Promise.all([ITEMS, `${ITEMS}/1`].map((path) => typeOf(path, { headers: { accept: GEOJSON } }))),
    [GEOJSON, GEOJSON],
  ],
  [
    'geojson/content',
    async () => [(await bodyOf(ITEMS))['type'], (await bodyOf(`${ITEMS}/1`))['type']],
    ['FeatureCollection', 'Feature'],
  ],
  [
    'oas30/oas-definition-1',
    async () => [await typeOf('/api'), await typeOf('/api?f=html')],
    [expect.stringContaining('openapi+json;version=3.0'), expect.stringContaining('text/html')],
  ],
  ['oas30/oas-definition-2', async () => (await new Validator().validate(await bodyOf('/api'))).valid, true],
  [
    'oas30/completeness',
    async () =>
      Object.values((await documentOf()).paths)
        .flatMap((path) => Object.entries(path))
        .every(([method, operation]) => method === 'parameters' || Object.keys(operation.responses).length >= 2),
    true,
  ],
  [
    'oas30/exceptions-codes',
    async () => Object.keys((await documentOf()).paths['/collections']!['get']!.responses),
    ['200', '4XX'],
  ],
  [
    'oas30/security',
    async () => Object.keys((await documentOf()).components.securitySchemes),
    ['key', 'bearer', 'basic'],
  ],
]
