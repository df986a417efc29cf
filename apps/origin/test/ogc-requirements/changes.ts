import { expect } from 'vitest'
import {
  EPSG,
  ITEMS,
  GEOJSON,
  origin,
  ask,
  statusOf,
  bodyOf,
  relOf,
  send,
  feature,
  MADE,
  added,
  type Item,
  type Case,
} from './requests.ts'

/** Features 4. */
export const CHANGES: readonly Case[] = [
  ['create-replace-delete/post-op', async () => (await send('POST', MADE, feature({ name: 'x' }))).status, 201],
  ['create-replace-delete/post-body', async () => (await send('POST', MADE, { nothing: 1 })).status, 400],
  [
    'create-replace-delete/post-content-type',
    async () => (await send('POST', MADE, feature({}), 'text/plain')).status,
    415,
  ],
  [
    'create-replace-delete/post-response',
    async () => bodyOf(await added({ name: 'y' })),
    expect.objectContaining({ properties: expect.objectContaining({ name: 'y', count: 7 }) }),
  ],
  [
    'create-replace-delete/put-op',
    async () => {
      const url = await added()
      const { status } = await send('PUT', url, feature({ name: 'z' }, [12, 49]))
      return [status, (await bodyOf(url))['properties'], (await bodyOf(url))['geometry']]
    },
    [
      expect.toBeOneOf([200, 204]),
      expect.objectContaining({ name: 'z', count: 7 }),
      { type: 'Point', coordinates: [12, 49] },
    ],
  ],
  [
    'create-replace-delete/put-rid-exception',
    async () => (await send('PUT', `${MADE}/999999`, feature({}))).status,
    404,
  ],
  [
    'create-replace-delete/delete-op',
    async () => {
      const url = await added()
      return [await statusOf(url, { method: 'DELETE' }), await statusOf(url)]
    },
    [204, 404],
  ],
  ['create-replace-delete/delete-op', () => statusOf(`${MADE}/999999`, { method: 'DELETE' }), 404],
  [
    'create-replace-delete/options-response',
    async () => [
      (await ask(MADE, { method: 'OPTIONS' })).headers.get('allow'),
      (await ask(`${MADE}/1`, { method: 'OPTIONS' })).headers.get('allow'),
    ],
    ['GET, HEAD, OPTIONS, POST', 'GET, HEAD, OPTIONS, PUT, PATCH, DELETE'],
  ],
  [
    'update/update-patch-op',
    async () => {
      const url = await added({ name: 'before' })
      const { status } = await send('PATCH', url, { properties: { count: 3 } }, 'application/merge-patch+json')
      return [status, (await bodyOf(url))['properties']]
    },
    [expect.toBeOneOf([200, 204]), expect.objectContaining({ name: 'before', count: 3 })],
  ],
  [
    'update/update-patch-body',
    async () => [
      (await send('PATCH', `${MADE}/1`, {}, 'text/plain')).status,
      (await ask(`${MADE}/1`, { method: 'OPTIONS' })).headers.get('accept-patch'),
    ],
    [415, 'application/merge-patch+json'],
  ],
  [
    'features/content-crs-header',
    async () => {
      const body = JSON.stringify(feature({ name: 'turned' }, [48, 11]))
      const headers = { 'content-type': GEOJSON, 'content-crs': `<${EPSG}4326>` }
      const { headers: sent } = await ask(MADE, { method: 'POST', body, headers })
      return (await bodyOf(sent.get('location')!))['geometry']
    },
    { type: 'Point', coordinates: [11, 48] },
  ],
  ['core/methods', async () => (await ask(MADE, { method: 'OPTIONS' })).headers.get('allow')?.includes('POST'), true],
  [
    'create-replace-delete/post-response-rid',
    async () => {
      const [one, other] = [await added(), await added()]
      const sent = await send('POST', MADE, { ...feature({}), id: Number(one.split('/').at(-1)) })
      return [one === other, sent.status, sent.headers.get('location') === one]
    },
    [false, 201, false],
  ],
  [
    'create-replace-delete/put-body',
    async () => {
      const url = await added()
      return Promise.all(
        [{ type: 'Feature' }, { nothing: 1 }, [], 'x'].map(async (body) => (await send('PUT', url, body)).status),
      )
    },
    [400, 400, 400, 400],
  ],
  [
    'create-replace-delete/put-content-type',
    async () => (await send('PUT', await added(), feature({}), 'text/plain')).status,
    415,
  ],
  [
    'create-replace-delete/put-response',
    async () => (await send('PUT', await added(), feature({}))).status,
    expect.toBeOneOf([200, 204]),
  ],
  [
    'create-replace-delete/put-rid',
    async () => {
      const url = await added()
      const { status } = await send('PUT', url, { ...feature({ name: 'other' }), id: 424242 })
      const { id, properties } = (await bodyOf(url)) as unknown as Item
      return [status, url.endsWith(`/${id}`), properties['name'], await statusOf(`${MADE}/424242`)]
    },
    [204, true, 'other', 404],
  ],
  [
    'create-replace-delete/put-rid-exception',
    async () => {
      const init = {
        method: 'PUT',
        body: JSON.stringify(feature({})),
        headers: { 'content-type': GEOJSON, 'if-match': '"x"' },
      }
      return [await statusOf(`${MADE}/999999`, init), await statusOf(`${MADE}/999999`)]
    },
    [412, 404],
  ],
  [
    'create-replace-delete/delete-response',
    async () => statusOf(await added(), { method: 'DELETE' }),
    expect.toBeOneOf([200, 204]),
  ],
  [
    'create-replace-delete/options-op',
    () => Promise.all([MADE, `${MADE}/1`, ITEMS, `${ITEMS}/1`].map((path) => statusOf(path, { method: 'OPTIONS' }))),
    [200, 200, 200, 200],
  ],
  [
    'create-replace-delete/options-response',
    // The list has no method that the role may not use.
    async () => (await ask(MADE, { method: 'OPTIONS', headers: { apikey: origin.keys.anon } })).headers.get('allow'),
    'GET, HEAD, OPTIONS',
  ],
  [
    'update/methods',
    async () => (await ask(`${MADE}/1`, { method: 'OPTIONS' })).headers.get('allow')?.includes('PATCH'),
    true,
  ],
  [
    'update/update-patch-response',
    async () =>
      (await send('PATCH', await added(), { properties: { count: 1 } }, 'application/merge-patch+json')).status,
    expect.toBeOneOf([200, 204]),
  ],
  [
    'update/rid',
    async () => {
      const url = await added()
      const { status } = await send(
        'PATCH',
        url,
        { id: 424242, properties: { count: 8 } },
        'application/merge-patch+json',
      )
      const { id, properties } = (await bodyOf(url)) as unknown as Item
      return [status, url.endsWith(`/${id}`), properties['count']]
    },
    [204, true, 8],
  ],
  [
    'features/collection-endpoint',
    async () => (await bodyOf('/collections/public.made'))['supportsNonAutogeneratedResourceIds'] ?? false,
    false,
  ],
  [
    'features/resources-endpoint',
    async () => (await relOf('/collections/public.made', 'items'))[0]?.href.endsWith(MADE),
    true,
  ],
  ['features/resource-endpoint', async () => new URL(await added()).pathname.startsWith(`/ogc/v1${MADE}/`), true],
  [
    'features/default-crs',
    async () => (await bodyOf(await added()))['geometry'],
    { type: 'Point', coordinates: [11, 48] },
  ],
  [
    'features/crs-other-crs',
    async () => {
      const body = JSON.stringify({
        ...feature({}),
        geometry: { type: 'Point', coordinates: [1_224_514.3987, 6_106_854.8349] },
      })
      const sent = (crs: string) =>
        ask(MADE, { method: 'POST', body, headers: { 'content-type': GEOJSON, 'content-crs': `<${EPSG}${crs}>` } })
      const { geometry } = (await bodyOf((await sent('3857')).headers.get('location')!)) as unknown as Item
      return [geometry, (await sent('9999')).status]
    },
    [{ type: 'Point', coordinates: [expect.closeTo(11, 5), expect.closeTo(48, 5)] }, 400],
  ],
  [
    'features/geojson-create-replace',
    async () => {
      const url = await added()
      await send('PUT', url, { ...feature({ name: 'moved' }, [12, 49]), id: 'x' })
      return (await bodyOf(url))['geometry']
    },
    { type: 'Point', coordinates: [12, 49] },
  ],
  [
    'features/update-json-merge-patch',
    async () => {
      const url = await added({ name: 'before', count: 3 })
      const patch = { geometry: { type: 'Point', coordinates: [12, 49] }, properties: { name: null } }
      await send('PATCH', url, patch, 'application/merge-patch+json')
      const { geometry, properties } = (await bodyOf(url)) as unknown as Item
      return [geometry.coordinates, properties]
    },
    [[12, 49], expect.objectContaining({ name: null, count: 3 })],
  ],
]
