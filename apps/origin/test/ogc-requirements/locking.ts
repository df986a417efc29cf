import { expect } from 'vitest'
import { ITEMS, GEOJSON, origin, ask, statusOf, send, feature, added, type Case } from './requests.ts'

const tagOf = async (url: string) => (await ask(url, { headers: { apikey: origin.keys.service } })).headers.get('etag')!

/** Features 4: ETags. */
export const LOCKING: readonly Case[] = [
  [
    'optimistic-locking-etags/get-etag-response',
    async () => (await ask(`${ITEMS}/1`)).headers.get('etag'),
    expect.stringMatching(/^"[^"]+"$/),
  ],
  ...(['PUT', 'PATCH'] as const).flatMap((method): Case[] => {
    const name = method.toLowerCase()
    const type = method === 'PUT' ? GEOJSON : 'application/merge-patch+json'
    const change = (url: string, tag: string) =>
      ask(url, {
        method,
        body: JSON.stringify(feature({ name: tag })),
        headers: { 'content-type': type, 'if-match': tag },
      })
    return [
      [
        `optimistic-locking-etags/${name}-etag-response`,
        async () => {
          const url = await added()
          return (await send(method, url, feature({ name: 'x' }), type)).headers.get('etag') === (await tagOf(url))
        },
        true,
      ],
      [
        `optimistic-locking-etags/ifmatch-${name}-op`,
        async () => {
          const url = await added()
          return (await change(url, await tagOf(url))).status
        },
        204,
      ],
      [
        `optimistic-locking-etags/ifmatch-${name}-eval`,
        async () => {
          const url = await added()
          const old = await tagOf(url)
          const first = await change(url, old)
          const others = await Promise.all(
            [old, 'W/"x"', '"x", "y"', '"x,*,y"', '*, "x"', `W/${await tagOf(url)}`].map(
              async (tag) => (await change(url, tag)).status,
            ),
          )
          return [
            first.status,
            ...others,
            (await change(url, `"x", ${await tagOf(url)}`)).status,
            (await change(url, '*')).status,
          ]
        },
        [204, 412, 412, 412, 412, 412, 412, 204, 204],
      ],
    ]
  }),
  [
    'optimistic-locking-etags/ifmatch-put-eval',
    async () => {
      const url = await added()
      const remove = (tag: string) => statusOf(url, { method: 'DELETE', headers: { 'if-match': tag } })
      return [await remove('"x"'), await remove((await ask(url)).headers.get('etag')!)]
    },
    [412, 204],
  ],
]
