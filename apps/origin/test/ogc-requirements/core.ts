import { expect } from 'vitest'
import {
  CRS84,
  SPOTS,
  ITEMS,
  GEOJSON,
  statusOf,
  bodyOf,
  typeOf,
  relOf,
  idsOf,
  parameterOf,
  every,
  type Body,
  type Case,
} from './requests.ts'

/** Features 1, core. */
export const CORE: readonly Case[] = [
  ['root-op', () => statusOf('/'), 200],
  [
    'root-success',
    async () =>
      ['service-desc', 'service-doc', 'conformance', 'data'].map(async (rel) => (await relOf('/', rel)).length),
    [1, 1, 1, 1],
  ],
  [
    'api-definition-op',
    async () => Promise.all((await relOf('/', 'service-desc')).map(({ href }) => statusOf(href))),
    [200],
  ],
  ['api-definition-success', () => typeOf('/api'), 'application/vnd.oai.openapi+json;version=3.0'],
  ['conformance-op', () => statusOf('/conformance'), 200],
  [
    'conformance-success',
    async () => ((await bodyOf('/conformance'))['conformsTo'] as string[]).every((uri) => URL.canParse(uri)),
    true,
  ],
  [
    'http',
    async () => [await statusOf('/nothing'), await statusOf('/', { method: 'PUT' })],
    [404, expect.toBeOneOf([404, 405])],
  ],
  ['query-param-unknown', () => Promise.all([statusOf('/?x=1'), statusOf(`${ITEMS}?unknown=1`)]), [400, 400]],
  [
    'query-param-invalid',
    () =>
      Promise.all(
        ['limit=0', 'limit=unlimited', 'bbox=1,2', 'bbox=a,b,c,d', 'datetime=x'].map((q) => statusOf(`${ITEMS}?${q}`)),
      ),
    [400, 400, 400, 400, 400],
  ],
  [
    'crs84',
    async () => (await bodyOf(`${ITEMS}/1`))['geometry'],
    { type: 'Point', coordinates: [expect.closeTo(11.01, 6), expect.closeTo(48, 6)] },
  ],
  ['fc-md-op', () => statusOf('/collections'), 200],
  ['fc-md-success', async () => Array.isArray((await bodyOf('/collections'))['collections']), true],
  [
    'fc-md-links',
    async () => [
      (await relOf('/collections', 'self')).length,
      (await relOf('/collections', 'alternate')).length,
      await every('/collections', ({ rel, type }) => rel !== '' && type !== undefined),
    ],
    [1, 1, true],
  ],
  [
    'fc-md-items',
    async () => ((await bodyOf('/collections'))['collections'] as { id: string }[]).map(({ id }) => id),
    ['public.far', 'public.lines', 'public.made', 'public.spans', 'public.spots', 'public.texts'],
  ],
  ['fc-md-items-links', async () => (await relOf(SPOTS, 'items')).map(({ type }) => type), [GEOJSON, 'text/html']],
  [
    'fc-md-extent',
    async () => (await bodyOf(SPOTS))['extent'],
    {
      spatial: {
        bbox: [[expect.closeTo(11.01, 4), expect.closeTo(48, 1), expect.closeTo(11.25, 4), expect.closeTo(48, 1)]],
        crs: CRS84,
      },
    },
  ],
  ['sfc-md-op', () => statusOf(SPOTS), 200],
  [
    'sfc-md-success',
    async () => {
      const one = await bodyOf(SPOTS)
      const all = (await bodyOf('/collections'))['collections'] as Body[]
      const listed = all.find(({ id }) => id === 'public.spots')!
      return ['id', 'title', 'description', 'extent', 'itemType', 'crs', 'storageCrs'].filter(
        (name) => JSON.stringify(one[name]) !== JSON.stringify(listed[name]),
      )
    },
    [],
  ],
  ['fc-op', () => statusOf(ITEMS), 200],
  [
    'fc-limit-definition',
    () => parameterOf('limit'),
    {
      name: 'limit',
      in: 'query',
      required: false,
      style: 'form',
      explode: false,
      schema: { type: 'integer', minimum: 1, maximum: 10, default: expect.any(Number) },
    },
  ],
  [
    'fc-limit-response-1',
    async () => Promise.all([3, 1000].map(async (limit) => (await bodyOf(`${ITEMS}?limit=${limit}`)).features.length)),
    [3, 10],
  ],
  [
    'fc-bbox-definition',
    () => parameterOf('bbox'),
    {
      name: 'bbox',
      in: 'query',
      required: false,
      style: 'form',
      explode: false,
      schema: { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } },
    },
  ],
  [
    'fc-bbox-response',
    () =>
      Promise.all(
        ['11.015,47,11.045,49', '11.015,47,0,11.045,49,9', '11.015, 47, 11.045, 49'].map((box) => idsOf(`bbox=${box}`)),
      ),
    [
      [2, 3, 4],
      [2, 3, 4],
      [2, 3, 4],
    ],
  ],
  [
    'fc-bbox-response',
    // The boxes of the official suite (FeaturesBBox): one across the antimeridian, the poles, two without features.
    () =>
      Promise.all(
        ['177,65,-177,70', '-180,85,180,90', '-180,-90,180,-85', '-1.5,50,1.5,53', '-80,-5,-70,5'].map((box) =>
          idsOf(`bbox=${box}`, '/collections/public.far/items'),
        ),
      ),
    [[1, 2], [4], [], [], []],
  ],
  [
    'fc-time-definition',
    () => parameterOf('datetime'),
    { name: 'datetime', in: 'query', required: false, style: 'form', explode: false, schema: { type: 'string' } },
  ],
  [
    'fc-time-response',
    () =>
      Promise.all(
        ['2024-01-03T00:00:00Z', '2024-01-03', '2024-01-03/2024-01-05', '../2024-01-03', '2024-01-25T12:00:00Z/..'].map(
          (time) => idsOf(`datetime=${time}`),
        ),
      ),
    [[2], [2], [2, 3, 4], [1, 2], [25]],
  ],
  ['fc-response', async () => (await bodyOf(ITEMS)).features.every(({ type }) => type === 'Feature'), true],
  [
    'fc-links',
    async () => [
      (await relOf(ITEMS, 'self')).length,
      (await relOf(ITEMS, 'alternate')).map(({ type }) => type),
      (await relOf(ITEMS, 'next')).length,
    ],
    [1, ['text/html'], 1],
  ],
  ['fc-rel-type', () => every(ITEMS, ({ rel, type }) => rel !== '' && type !== undefined), true],
  ['fc-timeStamp', async () => 'timeStamp' in (await bodyOf(ITEMS)), false],
  ['fc-numberMatched', async () => (await bodyOf(`${ITEMS}?bbox=11.015,47,11.045,49&limit=1`))['numberMatched'], 3],
  [
    'fc-numberMatched',
    // As in the official suite: the total over all pages.
    async () => {
      const first = await bodyOf(`${ITEMS}?limit=7`)
      let [page, count] = [first, first.features.length]
      for (
        let next = page.links.find(({ rel }) => rel === 'next');
        next;
        next = page.links.find(({ rel }) => rel === 'next')
      ) {
        page = await bodyOf(next.href)
        count += page.features.length
      }
      return [first['numberMatched'], count]
    },
    [25, 25],
  ],
  ['fc-numberReturned', async () => (await bodyOf(`${ITEMS}?limit=4`))['numberReturned'], 4],
  ['f-op', () => statusOf(`${ITEMS}/1`), 200],
  ['f-success', () => bodyOf(`${ITEMS}/1`), expect.objectContaining({ type: 'Feature', id: 1 })],
  [
    'f-links',
    async () => ['self', 'alternate', 'collection'].map(async (rel) => (await relOf(`${ITEMS}/1`, rel)).length),
    [1, 1, 1],
  ],
]
