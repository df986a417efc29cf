import { expect } from 'vitest'
import { CRS84, EPSG, SPOTS, ITEMS, GEOJSON, ask, statusOf, bodyOf, idsOf, parameterOf, type Case } from './requests.ts'

/** Features 2. */
export const CRS: readonly Case[] = [
  [
    'crs-uri',
    async () =>
      ((await bodyOf('/collections'))['collections'] as { crs: string[] }[]).every(({ crs }) =>
        crs.every((uri) => /^http:\/\/www\.opengis\.net\/def\/crs\/[^/]+\/[^/]+\/[^/]+$/.test(uri)),
      ),
    true,
  ],
  [
    'fc-md-crs-list-global',
    async () =>
      ((await bodyOf('/collections'))['collections'] as { crs: string[] }[]).every(
        ({ crs }) => crs[0] === CRS84 && !crs.includes('#/crs'),
      ),
    true,
  ],
  ['fc-md-crs-list', async () => (await bodyOf(SPOTS))['crs'], [CRS84, `${EPSG}4326`, `${EPSG}3857`, `${EPSG}25832`]],
  ['fc-md-storageCrs', async () => (await bodyOf(SPOTS))['storageCrs'], `${EPSG}25832`],
  [
    'fc-md-storageCrs-valid-value',
    async () => ((await bodyOf(SPOTS))['crs'] as string[]).includes((await bodyOf(SPOTS))['storageCrs'] as string),
    true,
  ],
  [
    'fc-bbox-crs-definition',
    () => parameterOf('bbox-crs'),
    {
      name: 'bbox-crs',
      in: 'query',
      required: false,
      style: 'form',
      explode: false,
      schema: { type: 'string', format: 'uri' },
    },
  ],
  ['fc-bbox-crs-valid-value', () => statusOf(`${ITEMS}?bbox=0,0,1,1&bbox-crs=${EPSG}9999`), 400],
  ['fc-bbox-crs-default-value', () => idsOf(`bbox=11.015,47,11.045,49&bbox-crs=${CRS84}`), [2, 3, 4]],
  ['bbox-crs-action', () => idsOf(`bbox=47,11.015,49,11.045&bbox-crs=${EPSG}4326`), [2, 3, 4]],
  [
    'fc-crs-definition',
    () => parameterOf('crs'),
    {
      name: 'crs',
      in: 'query',
      required: false,
      style: 'form',
      explode: false,
      schema: { type: 'string', format: 'uri' },
    },
  ],
  [
    'fc-crs-valid-value',
    () => Promise.all([statusOf(`${ITEMS}?crs=${EPSG}9999`), statusOf(`${ITEMS}/1?crs=x`)]),
    [400, 400],
  ],
  ['fc-crs-default-value', async () => (await ask(ITEMS)).headers.get('content-crs'), `<${CRS84}>`],
  [
    'crs-action',
    async () => (await bodyOf(`${ITEMS}/1?crs=${EPSG}4326`))['geometry'],
    { type: 'Point', coordinates: [expect.closeTo(48, 6), expect.closeTo(11.01, 6)] },
  ],
  [
    'ogc-crs-header',
    async () => [
      (await ask(`${ITEMS}?crs=${EPSG}25832`)).headers.has('content-crs'),
      (await ask(`${ITEMS}/1`)).headers.has('content-crs'),
    ],
    [true, true],
  ],
  [
    'ogc-crs-header-value',
    async () => (await ask(`${ITEMS}?crs=${EPSG}25832`)).headers.get('content-crs'),
    `<${EPSG}25832>`,
  ],
  ['geojson', async () => (await ask(`${ITEMS}?crs=${EPSG}3857`)).headers.get('content-type'), GEOJSON],
]
