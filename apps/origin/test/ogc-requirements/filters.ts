import { expect } from 'vitest'
import {
  EPSG,
  REL,
  SPOTS,
  ITEMS,
  ask,
  statusOf,
  bodyOf,
  relOf,
  idsOf,
  cql,
  cqlJson,
  documentOf,
  parameterOf,
  op,
  property,
  type Body,
  type Case,
} from './requests.ts'

/** Features 3. */
export const FILTERS: readonly Case[] = [
  [
    'queryables/queryables-link',
    async () => (await relOf(SPOTS, `${REL}queryables`)).map(({ type }) => type),
    ['application/schema+json'],
  ],
  ['queryables/get-queryables-op', () => statusOf(`${SPOTS}/queryables`), 200],
  [
    'queryables/get-queryables-response',
    () => bodyOf(`${SPOTS}/queryables`),
    expect.objectContaining({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $id: expect.stringContaining('/queryables'),
      properties: expect.objectContaining({ name: { title: 'name', type: 'string' } }),
    }),
  ],
  [
    'queryables-query-parameters/parameters',
    async () =>
      (await documentOf()).paths['/collections/public.spots/items']!['get']!.parameters!.flatMap(
        (one) => (one as { name?: string }).name ?? [],
      ),
    ['id', 'name', 'weight', 'other', 'kind', 'seen'],
  ],
  [
    'queryables-query-parameters/parameters',
    () => Promise.all([idsOf('name=Spot%203'), idsOf('kind=a&weight=3')]),
    [[3], [6]],
  ],
  ['filter/filter-param', () => idsOf(cql('weight < 2')), [1, 2, 3]],
  [
    'filter/filter-lang-param',
    () =>
      Promise.all([
        idsOf(`filter-lang=cql2-text&${cql('id = 3')}`),
        statusOf(`${ITEMS}?filter-lang=sql&${cql('id = 3')}`),
      ]),
    [[3], 400],
  ],
  ['filter/filter-lang-param', () => idsOf(cql("name = 'Spot 4'")), [4]],
  ['filter/filter-crs-wgs84', () => idsOf(cql('S_INTERSECTS(geom, BBOX(11.015, 47, 11.045, 49))')), [2, 3, 4]],
  [
    'filter/filter-crs-param',
    () =>
      Promise.all([
        idsOf(`filter-crs=${EPSG}4326&${cql('S_INTERSECTS(geom, BBOX(47, 11.015, 49, 11.045))')}`),
        statusOf(`${ITEMS}?filter-crs=${EPSG}9999&${cql('id = 1')}`),
      ]),
    [[2, 3, 4], 400],
  ],
  ['filter/mixing-expressions', () => idsOf(`bbox=11.015,47,11.045,49&kind=b&${cql('id > 1')}`), [4]],
  [
    'filter/response',
    () => Promise.all([statusOf(`${ITEMS}?${cql('id = ')}`), statusOf(`${ITEMS}?${cql('nothing = 1')}`)]),
    [400, 400],
  ],
  [
    'features-filter/filter-param',
    async () =>
      (await documentOf()).paths['/collections/public.spots/items']!['get']!.parameters!.flatMap(
        ({ $ref }) => $ref?.split('/').at(-1) ?? [],
      ).filter((name) => name.startsWith('filter')),
    ['filter', 'filter-lang', 'filter-crs'],
  ],
  [
    'queryables/get-queryables-response',
    // Types of all properties but spatial ones, formats of spatial and temporal ones.
    async () => [
      (await bodyOf('/collections/public.texts/queryables'))['properties'],
      (await bodyOf(`${SPOTS}/queryables`))['properties'],
      (await ask(`${SPOTS}/queryables`)).headers.get('content-type'),
    ],
    [
      expect.objectContaining({
        open: { title: 'open', type: 'boolean' },
        day: expect.objectContaining({ type: 'string', format: 'date' }),
        height: { title: 'height', type: 'number' },
        geom: expect.objectContaining({ format: 'geometry-point' }),
      }),
      expect.objectContaining({
        seen: expect.objectContaining({ type: 'string', format: 'date-time' }),
        geom: { title: 'geom', format: 'geometry-point', 'x-ogc-role': 'primary-geometry' },
      }),
      'application/schema+json',
    ],
  ],
  [
    'queryables/expression-construction',
    async () => [
      (await bodyOf(`${SPOTS}/queryables`))['additionalProperties'],
      await statusOf(`${ITEMS}?${cql('nothing IS NULL')}`),
      await statusOf(`${ITEMS}?${cqlJson(op('isNull', property('nothing')))}`),
    ],
    [false, 400, 400],
  ],
  [
    'queryables-query-parameters/parameters',
    // The schema of each parameter is that of the queryable.
    async () =>
      (await documentOf()).paths['/collections/public.texts/items']!['get']!.parameters!.flatMap((one) => {
        const { name, schema } = one as { name?: string; schema?: unknown }
        return name === undefined ? [] : [[name, schema]]
      }),
    [
      ['id', { type: 'integer' }],
      ['name', { type: 'string' }],
      ['open', { type: 'boolean' }],
      ['day', { type: 'string', format: 'date' }],
      ['height', { type: 'number' }],
    ],
  ],
  [
    'filter/filter-param',
    () => parameterOf('filter'),
    { name: 'filter', in: 'query', required: false, style: 'form', explode: false, schema: { type: 'string' } },
  ],
  [
    'filter/filter-lang-param',
    async () => (await parameterOf('filter-lang'))?.['schema'],
    { type: 'string', enum: expect.arrayContaining(['cql2-text', 'cql2-json']), default: 'cql2-text' },
  ],
  [
    'filter/filter-crs-param',
    async () => (await parameterOf('filter-crs'))?.['schema'],
    { type: 'string', format: expect.stringMatching(/^uri/) },
  ],
  [
    'filter/filter-crs-wgs84',
    () => Promise.all(['90 180', '7 -91'].map((at) => statusOf(`${ITEMS}?${cql(`S_INTERSECTS(geom, POINT(${at}))`)}`))),
    [400, 400],
  ],
  [
    'filter/filter-crs-wgs84',
    () =>
      statusOf(`${ITEMS}?${cqlJson(op('s_intersects', property('geom'), { type: 'Point', coordinates: [90, 180] }))}`),
    400,
  ],
  [
    'features-filter/get-queryables-op',
    async () =>
      Promise.all(
        ((await bodyOf('/collections'))['collections'] as { id: string }[]).map(({ id }) =>
          statusOf(`/collections/${id}/queryables`),
        ),
      ),
    Array(6).fill(200),
  ],
  [
    'features-filter/queryables-link',
    async () =>
      ((await bodyOf('/collections'))['collections'] as Body[]).map(
        ({ links }) => links.filter(({ rel }) => rel === `${REL}queryables`).length,
      ),
    Array(6).fill(1),
  ],
  [
    'features-filter/filter-lang-param',
    () => idsOf(`filter-lang=cql2-json&${cqlJson(op('=', property('id'), 3)).split('&')[1]}`),
    [3],
  ],
  ['features-filter/filter-crs-param', () => idsOf(`filter-crs=${EPSG}3857&${cql('id = 3')}`), [3]],
  [
    'features-filter/response',
    () =>
      Promise.all([
        idsOf(`bbox=11.015,47,11.045,49&datetime=2024-01-03/..&kind=b&${cql('id > 1')}`),
        idsOf(`bbox=11.015,47,11.045,49&${cql('id > 99')}`),
        ...['filter=', 'filter=)&filter-lang=cql2-text', 'filter-lang=x', 'filter-crs=x'].map((query) =>
          statusOf(`${ITEMS}?${query}`),
        ),
      ]),
    [[4], [], 400, 400, 400, 400],
  ],
]
